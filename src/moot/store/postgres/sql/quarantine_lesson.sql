update lessons set quarantined_at = :at::double precision, quarantined_by = :by::text
where id = :id returning id
