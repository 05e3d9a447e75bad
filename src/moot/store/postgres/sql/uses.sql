select * from lesson_uses where session_id = :id order by number
