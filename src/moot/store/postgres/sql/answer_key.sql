update idempotency_keys set response = :response where key = :key
