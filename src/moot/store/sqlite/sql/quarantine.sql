update debate_sessions set
  quarantined_at = case when :by is null then null else coalesce(quarantined_at, :now) end,
  quarantined_by = case when :by is null then null else coalesce(quarantined_by, :by) end,
  updated_at = case when (:by is null) = (quarantined_at is null) then updated_at else :now end
where id = :id and status = 'completed'
  and (:seen_epoch is null or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
returning *
