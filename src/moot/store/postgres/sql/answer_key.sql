update idempotency_keys set response = :response where key = :key
  and not exists (select 1 from deleted_debates where id = idempotency_keys.session_id)
