select * from debate_events where session_id = :id order by seq
