select id, epoch, status from debate_sessions
where owner = :owner and status in ('running', 'stopping')
