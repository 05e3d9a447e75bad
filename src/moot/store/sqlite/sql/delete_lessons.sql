delete from lessons where session_id = :id
