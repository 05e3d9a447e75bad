update access_tokens set last_used_at = :now
where id in (:id, :parent) and (last_used_at is null or last_used_at <= :before)
