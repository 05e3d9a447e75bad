update debate_sessions set remembered = (select embedder from memories where session_id = :id) where id = :id
