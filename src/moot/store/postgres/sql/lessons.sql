select * from lessons where session_id = :id order by number
