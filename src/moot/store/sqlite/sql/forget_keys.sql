delete from idempotency_keys where created_at < :before
