-- Jobs that dead workers have taken. Otherwise they are delivered again only when their heartbeat has run out.
update moot_jobs set status = 'queued', execute_after = now(), updated = now(), queue_manager_id = null
where status = 'picked' and left(queue_manager_id::text, 18) = any(:dead::text[])
