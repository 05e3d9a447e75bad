select id, error from debate_sessions where status = 'failed' and updated_at >= :since
order by updated_at desc limit :most
