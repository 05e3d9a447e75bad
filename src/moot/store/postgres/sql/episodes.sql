select * from episodes where session_id = :id order by number
