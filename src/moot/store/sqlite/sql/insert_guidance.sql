insert into debate_gates (id, session_id, key, kind, status, requested_at, decision, reviewer, decided_at)
values (:gate_id, :id, :key, 'guidance', 'decided', :now, :decision, :by, :now)
returning *
