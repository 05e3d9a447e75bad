update debate_sessions set
  status = 'running',
  epoch = epoch + 1,
  owner = :owner,
  lease_until = :now + :seconds,
  started_at = coalesce(started_at, :now),
  updated_at = :now,
  error = null,
  -- A driver that still owns the debate has died, or has been silent past its lease.
  crashes = case
    when status not in ('running', 'stopping') then 0
    when owner is null or owner = :owner then crashes
    else crashes + 1
  end,
  -- Drivers in a row, each after a death, that drive nothing else until a step is stored.
  alone = case
    when not :alone then 0
    when owner is null or owner = :owner then alone
    else alone + 1
  end
where id = :id
  and status in (select value from json_each(:expect))
  and (owner is null or lease_until <= :now or owner = :dead)
  and (:seen_epoch is null or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
