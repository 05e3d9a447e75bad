-- A job that a dead owner has taken does not count, should it not have been freed.
select id, epoch, last_seq, crashes + (owner is not null)::integer as crashes from debate_sessions s
where status = 'running'
  and ((owner is null or lease_until <= :now) and updated_at <= :now - :quiet or owner = any(:dead::text[]))
  and s.id not in (
    select split_part(dedupe_key, '/', 1) from moot_jobs
    where dedupe_key is not null and (status = 'queued' or s.owner is null or s.owner <> all(:dead::text[]))
  )
order by updated_at
limit 1000
