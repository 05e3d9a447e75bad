delete from code_versions where session_id = :id
