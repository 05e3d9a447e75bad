update debate_gates set status = 'decided', decision = :decision, reviewer = :by, decided_at = :now
where session_id = :id and key = :key and status = 'open'
  and exists (select 1 from debate_sessions s where s.id = :id and s.status not in ('completed', 'canceled'))
returning *, pg_notify('moot', 'changed ' || session_id)
