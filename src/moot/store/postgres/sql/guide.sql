with counted as (
  update debate_sessions set guided = guided + 1, updated_at = :now
  where id = :id and status not in ('completed', 'canceled')
    and not exists (select 1 from debate_gates where id = :gate_id)
    and (:seen_epoch::integer is null
      or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
  returning id, guided
), kept as (
  insert into debate_gates (id, session_id, key, kind, status, requested_at, decision, reviewer, decided_at)
  select :gate_id, id, 'guidance/' || guided, 'guidance', 'decided', :now, :decision, :by, :now from counted
  returning *
)
select *, pg_notify('moot', 'changed ' || session_id) from kept
