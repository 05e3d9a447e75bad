select count(*) from debate_sessions
where status in ('running', 'stopping') and owner is not null and lease_until <= :now
