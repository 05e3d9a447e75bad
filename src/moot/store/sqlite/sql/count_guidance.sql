update debate_sessions set guided = guided + 1, updated_at = :now
where id = :id and status not in ('completed', 'canceled')
  and (:seen_epoch is null or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
returning guided
