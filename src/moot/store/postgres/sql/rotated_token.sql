select * from access_tokens where id = :id and hash = :hash
