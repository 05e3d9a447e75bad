update debate_sessions set updated_at = :now
where id = :id and status not in ('completed', 'canceled')
  and exists (select 1 from debate_gates where session_id = :id and key = :key and status = 'open')
  and (:seen_epoch is null or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
