delete from debate_sessions where id = :id
