select count(*) as open, coalesce(sum(g.expires_at <= :now), 0) as overdue
from debate_gates g join debate_sessions s on s.id = g.session_id
where g.status = 'open' and s.status = 'waiting'
