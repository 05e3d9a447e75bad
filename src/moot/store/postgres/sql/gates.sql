select * from debate_gates where session_id = :id order by requested_at, key
