-- Debates that will not go on by themselves. A job counts while it is queued, or while its worker's heartbeat is fresh.
with jobs as (
  select split_part(dedupe_key, '/', 1) as id from moot_jobs
  where entrypoint = 'advance'
    and (status = 'queued' or heartbeat > now() - :beat::double precision * interval '1 second')
), found as (
  select id, status, greatest(updated_at, lease_until) as since, 'neither driven nor queued' as why
  from debate_sessions
  where status = 'running' and (owner is null or lease_until <= :now) and id not in (select id from jobs)
  union all
  select id, status, greatest(updated_at, lease_until), 'told to stop, but not driven'
  from debate_sessions
  where status = 'stopping' and (owner is null or lease_until <= :now)
  union all
  select id, status, updated_at, 'driven, but no step is open'
  from debate_sessions
  where status in ('running', 'stopping') and lease_until > :now and open_keys = '[]'
  union all
  select s.id, s.status, coalesce(g.decided_at, s.updated_at),
    case when g.decided_at is null then 'waits, but asks nothing' else 'answered, but not queued' end
  from debate_sessions s
  left join lateral (
    select max(decided_at) as decided_at, bool_or(status = 'open') as asks
    from debate_gates where session_id = s.id and s.open_keys::jsonb ? key
  ) g on true
  where s.status = 'waiting' and (g.decided_at is not null or g.asks is not true)
)
select * from found where since <= :now - :seconds::double precision order by since limit 1000
