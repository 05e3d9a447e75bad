select
  count(*) filter (where status = 'queued' and entrypoint = 'advance') as waiting,
  count(*) filter (where status = 'picked' and entrypoint = 'advance') as taken,
  count(*) filter (where status = 'queued' and execute_after > now()) as later,
  coalesce(extract(epoch from now() - min(created) filter (
    where status = 'queued' and entrypoint = 'advance' and execute_after <= now()
  )), 0) as oldest_seconds
from moot_jobs
