delete from lesson_uses where session_id = :id
