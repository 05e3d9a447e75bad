select * from debate_sessions where id = :id and last_write = :write_id
