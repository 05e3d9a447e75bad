update idempotency_keys set response = null where session_id = :id
