select id, updated_at from debate_sessions where status = 'failed' and json_extract(error, '$.kind') = 'crashed'
order by updated_at desc limit :most
