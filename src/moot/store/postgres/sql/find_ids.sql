select id from debate_sessions
where id >= :prefix and id < :prefix || '~' and (:token::text is null or token_id = :token)
order by id limit 10
