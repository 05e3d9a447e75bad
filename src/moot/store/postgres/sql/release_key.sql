delete from idempotency_keys where key = :key and session_id = :debate_id
