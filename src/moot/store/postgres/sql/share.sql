select * from access_tokens
where hash = :hash and (expires_at is null or expires_at > :now) and debate_id is not null
