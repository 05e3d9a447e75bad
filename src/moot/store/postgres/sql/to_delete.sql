-- Locked, so that a commit waits, and then finds no debate.
select id from debate_sessions
where id = :id and (:expect::text[] is null or status = any(:expect::text[]))
  and (:seen_epoch::integer is null
    or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
for update
