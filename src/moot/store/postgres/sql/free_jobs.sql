-- Jobs that dead workers have taken. Otherwise they are delivered again only when their heartbeat has run out.
update moot_jobs j set
  status = 'queued', execute_after = now(), updated = now(), queue_manager_id = null,
  priority = coalesce((
    select s.crashes + (s.owner is not null)::integer
    from debate_sessions s where s.id = split_part(j.dedupe_key, '/', 1) and s.status = 'running'
  ), 0)
where status = 'picked' and left(queue_manager_id::text, 18) = any(:dead::text[])
