select * from code_versions where session_id = :id order by version_number
