delete from debate_gates where session_id = :id
