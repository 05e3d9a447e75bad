update debate_sessions set
  private = :private,
  updated_at = case when private = :private then updated_at else :now end
where id = :id
  and (:seen_epoch is null or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
returning *
