select * from debate_gates where session_id = :id and key = :key and decision = :decision and reviewer = :by
