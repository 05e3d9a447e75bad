update access_tokens set expires_at = :until where parent = :id and (expires_at is null or expires_at > :until)
