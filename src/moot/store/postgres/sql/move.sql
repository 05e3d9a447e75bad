with moved as (
  update debate_sessions set
    status = :to,
    updated_at = :now,
    error = case when :to = 'running' then null else error end,
    crashes = case when :to = 'running' then 0 else crashes end,
    last_seq = last_seq + :count,
    -- a driver that is told to stop keeps its lease until its step has ended; any other move ends the lease
    owner = case when :to = 'stopping' then owner end,
    lease_until = case when :to = 'stopping' then lease_until end
  where id = :id and status = any(:expect::text[])
    and not (status = :to and updated_at = :now)  -- made already, by a try that lost its connection
    and (:seen_epoch::integer is null
      or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
  returning *
), shown as (
  insert into debate_events (session_id, seq, type, key, data, created_at)
  select moved.id, moved.last_seq - :count + e.n, e.type, e.key, e.data, moved.updated_at
  from moved, json_to_recordset(:events::json) as e (n integer, type text, key text, data text)
)
select *, pg_notify('moot', 'changed ' || id || ' ' || status), pg_notify(left('moot:' || id, 63), 'changed') from moved
