select * from debate_sessions where status = 'completed' and remembered is null and evaluation = ''
order by completed_at desc limit :limit
