update debate_sessions s set status = 'running', updated_at = :now, owner = null, lease_until = null, crashes = 0
where s.status = 'waiting' and (:id::text is null or s.id = :id)
  and exists (
    select 1 from debate_gates g
    where g.session_id = s.id and g.status = 'decided' and s.open_keys::jsonb ? g.key
  )
returning s.id, s.epoch, s.last_seq, s.crashes, pg_notify('moot', 'changed ' || s.id || ' running')
