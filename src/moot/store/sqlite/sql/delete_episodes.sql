delete from episodes where session_id = :id
