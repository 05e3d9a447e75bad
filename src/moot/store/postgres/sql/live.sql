select * from debate_sessions where status in ('running', 'stopping') order by created_at
