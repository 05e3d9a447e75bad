select owner, count(*) as debates, min(lease_until) as lease_until from debate_sessions
where status in ('running', 'stopping') and owner is not null and lease_until > :now
group by owner
order by owner
