select * from debate_turns where session_id = :id and seq > :after::bigint order by seq
