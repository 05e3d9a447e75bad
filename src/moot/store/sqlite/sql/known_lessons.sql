-- Lessons with what the debates that used them say. One that was confirmed where it was learnt has that to begin with.
select l.*,
  l.confirmed + (select count(*) from lesson_uses u where u.lesson_id = l.id and u.held = 1) as times_confirmed,
  (select count(*) from lesson_uses u where u.lesson_id = l.id and u.held = 0) as times_contradicted
from lessons l join debate_sessions s on s.id = l.session_id
where s.evaluation = '' and (:all or s.token_id = :token or (:shared and s.private = 0))
  and (:id is null or l.id = :id)
order by l.created_at desc, l.id desc limit :limit
