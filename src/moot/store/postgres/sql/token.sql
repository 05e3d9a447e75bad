select * from access_tokens
where (hash = :hash or (old_hash = :hash and old_until > :now)) and (expires_at is null or expires_at > :now)
  and debate_id is null
