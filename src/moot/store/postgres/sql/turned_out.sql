update debate_sessions set turned_out = :turned_out, updated_at = :now
where id = :id and status = 'completed'
  and (:seen_epoch::integer is null
    or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
returning *, pg_notify('moot', 'changed ' || id)
