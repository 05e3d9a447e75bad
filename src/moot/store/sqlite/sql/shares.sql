select * from access_tokens
where debate_id = :id and (expires_at is null or expires_at > :now)
order by created_at, id
