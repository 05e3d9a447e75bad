delete from access_tokens where id = :id returning id
