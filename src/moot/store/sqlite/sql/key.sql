select * from idempotency_keys where key = :key
