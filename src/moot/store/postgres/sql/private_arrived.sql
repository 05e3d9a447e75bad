select * from debate_sessions where id = :id and private = :private
