select g.* from debate_gates g join debate_sessions s on s.id = g.session_id
where g.status = 'open' and g.expires_at <= :now and s.status = 'waiting'
order by g.expires_at
