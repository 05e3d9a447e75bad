update access_tokens set old_hash = hash, old_until = :until, hash = :hash, expires_at = :expires_at
where id = :id and parent is null and hash <> :hash
returning *
