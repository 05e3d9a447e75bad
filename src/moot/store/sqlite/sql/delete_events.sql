delete from debate_events where session_id = :id
