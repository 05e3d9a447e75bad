update debate_gates set status = 'decided', decision = :decision, reviewer = :by, decided_at = :now
where session_id = :id and key = :key and status = 'open'
returning *
