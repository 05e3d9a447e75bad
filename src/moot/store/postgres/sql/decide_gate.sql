-- The session's row is locked first, as in every change: a statement that waited for it then sees its new state.
with asking as (
  update debate_sessions set updated_at = :now
  where id = :id and status not in ('completed', 'canceled')
    and exists (select 1 from debate_gates where session_id = :id and key = :key and status = 'open')
    and (:seen_epoch::integer is null
      or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
  returning id
), decided as (
  update debate_gates g set status = 'decided', decision = :decision, reviewer = :by, decided_at = :now
  from asking
  where g.session_id = asking.id and g.key = :key and g.status = 'open'
  returning g.*
)
select *, pg_notify('moot', 'changed ' || session_id) from decided
