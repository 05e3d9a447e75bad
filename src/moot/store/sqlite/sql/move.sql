update debate_sessions set
  status = :to,
  updated_at = :now,
  error = case when :to = 'running' then null else error end,
  crashes = case when :to = 'running' then 0 else crashes end,
  last_seq = last_seq + :events,
  -- a driver that is told to stop keeps its lease until its step has ended; any other move ends the lease
  owner = case when :to = 'stopping' then owner end,
  lease_until = case when :to = 'stopping' then lease_until end
where id = :id and status in (select value from json_each(:expect))
  and (:seen_epoch is null or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
returning last_seq
