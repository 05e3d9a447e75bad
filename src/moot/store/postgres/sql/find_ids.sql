select id from debate_sessions
where id >= :prefix and id < :prefix || '~' and (:all::boolean or token_id = :token::text or (:shared::boolean and private = 0))
order by id limit 10
