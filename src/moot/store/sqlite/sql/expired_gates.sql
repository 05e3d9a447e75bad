-- cross join fixes the order: SQLite starts from the index of open gates, of which few have expired
select g.* from debate_gates g cross join debate_sessions s on s.id = g.session_id
where g.status = 'open' and g.expires_at <= :now and s.status = 'waiting'
union all
-- answered, but the process that took the answer never resumed the debate
select g.* from debate_sessions s join debate_gates g on g.session_id = s.id
where s.status = 'waiting' and g.status = 'decided' and g.decided_at <= :now - 10
  and g.key in (select value from json_each(s.open_keys))
order by expires_at
