update debate_sessions set lease_until = :now + :seconds
where id = :id and epoch = :epoch and owner = :owner and status in ('running', 'stopping')
