select g.* from debate_gates g join debate_sessions s on s.id = g.session_id
where g.status = 'open' and s.status not in ('completed', 'canceled')
order by g.requested_at, g.key
