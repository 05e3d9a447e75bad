delete from debate_turns where session_id = :id
