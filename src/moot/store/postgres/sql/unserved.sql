-- Debates of some formats that should run and that no process drives.
select id, format, greatest(updated_at, lease_until) as since from debate_sessions
where status = 'running' and (owner is null or lease_until <= :now) and format = any(:formats::text[])
order by since
limit 1000
