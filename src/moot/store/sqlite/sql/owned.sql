select id, epoch, status, guided from debate_sessions
where owner = :owner and status in ('running', 'stopping')
