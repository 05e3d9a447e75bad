-- cross join: by the index of open gates, of which few are due
select g.* from debate_gates g cross join debate_sessions s on s.id = g.session_id
where g.status = 'open' and g.expires_at <= :now and s.status = 'waiting'
union all
-- whoever answered did not get to let the debate go on
select g.* from debate_sessions s join debate_gates g on g.session_id = s.id
where s.status = 'waiting' and g.status = 'decided' and g.decided_at <= :now - 10
  and g.key in (select value from json_each(s.open_keys))
order by expires_at
