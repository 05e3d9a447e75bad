delete from memories where session_id = :id
