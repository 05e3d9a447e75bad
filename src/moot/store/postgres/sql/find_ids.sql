select id from debate_sessions where id >= :prefix and id < :prefix || '~' order by id limit 10
