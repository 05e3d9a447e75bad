update lessons set quarantined_at = :at, quarantined_by = :by where id = :id returning id
