-- Running, with no owner: the worker that gets the job claims it.
update debate_sessions set
  status = 'running', updated_at = :now, owner = null, lease_until = null, error = null,
  crashes = case when status in ('running', 'stopping') then crashes else 0 end
where id = :id and status = any(:expect::text[]) and (owner is null or lease_until <= :now)
  and (:seen_epoch::integer is null
    or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
returning *, pg_notify('moot', 'changed ' || id || ' running')
