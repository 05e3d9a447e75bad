select id from debate_sessions
where id >= :prefix and id < :prefix || '~' and (:all or token_id = :token or (:shared and private = 0))
order by id limit 10
