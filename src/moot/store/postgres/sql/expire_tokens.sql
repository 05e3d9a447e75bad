delete from access_tokens where (parent is not null or debate_id is not null) and expires_at <= :now
