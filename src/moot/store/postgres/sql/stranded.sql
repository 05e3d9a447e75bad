with moved as (
  update debate_sessions set
    status = 'stopped', updated_at = :now, last_seq = last_seq + 1, owner = null, lease_until = null
  where status = 'stopping' and (owner is null or lease_until <= :now)
  returning id, last_seq
), shown as (
  insert into debate_events (session_id, seq, type, key, data, created_at)
  select id, last_seq, 'status', '', '{"status":"stopped","by":"recovery"}', :now from moved
)
select id, pg_notify('moot', 'changed ' || id || ' stopped'), pg_notify(left('moot:' || id, 63), 'changed') from moved
