select id, error from debate_sessions where status = 'failed' and updated_at >= :since::double precision
order by updated_at desc
limit :most
