select id, epoch, last_seq from debate_sessions s
where status = 'running' and (owner is null or lease_until <= :now) and updated_at <= :now - :quiet
  and s.id not in (select split_part(dedupe_key, '/', 1) from moot_jobs where dedupe_key is not null)
order by updated_at
limit 1000
