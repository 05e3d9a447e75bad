select * from debate_sessions where id = :id and status = 'completed' and (quarantined_at is null) = (:by::text is null)
