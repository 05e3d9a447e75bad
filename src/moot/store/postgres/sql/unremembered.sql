select * from debate_sessions where status = 'completed' and remembered is null
order by completed_at desc limit :limit
