update debate_sessions set alone = 0 where id = :id and epoch = :epoch
