-- Lessons with what the debates that used them say. One that was confirmed where it was learnt has that to begin with.
-- A use that a fork has of its parent, at the same turn of the same time, counts once.
select l.*,
  l.confirmed + (select count(*) from (
    select distinct u.number, u.turn_id, u.created_at from lesson_uses u
    where u.lesson_id = l.id and u.held = 1
  ) uses) as times_confirmed,
  (select count(*) from (
    select distinct u.number, u.turn_id, u.created_at from lesson_uses u
    where u.lesson_id = l.id and u.held = 0
  ) uses) as times_contradicted
from lessons l join debate_sessions s on s.id = l.session_id
where s.evaluation = '' and (:all::boolean or s.token_id = :token::text or (:shared::boolean and s.private = 0))
  and (:id::text is null or l.id = :id::text)
order by l.created_at desc, l.id desc limit :limit::bigint
