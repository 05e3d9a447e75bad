update debate_sessions set alone = false where id = :id and epoch = :epoch
