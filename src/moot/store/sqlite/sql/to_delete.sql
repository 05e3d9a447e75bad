select id from debate_sessions
where id = :id and (:expect is null or status in (select value from json_each(:expect)))
  and (:seen_epoch is null or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
