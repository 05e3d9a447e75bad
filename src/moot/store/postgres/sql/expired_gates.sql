select g.* from debate_gates g join debate_sessions s on s.id = g.session_id
where g.status = 'open' and g.expires_at <= :now and s.status = 'waiting'
union all
-- answered, but the process that took the answer never resumed the debate
select g.* from debate_gates g join debate_sessions s on s.id = g.session_id
where s.status = 'waiting' and g.status = 'decided' and g.decided_at <= :now - 10 and s.open_keys::jsonb ? g.key
order by expires_at
