insert into idempotency_keys (key, hash, session_id, created_at) values (:key, :hash, :debate_id, :now)
on conflict do nothing
