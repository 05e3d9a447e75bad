delete from access_tokens where parent is not null and expires_at <= :now
