select * from debate_gates where id = :gate_id
