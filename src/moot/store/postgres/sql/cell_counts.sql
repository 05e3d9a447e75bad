select count(*) as begun, coalesce(sum(case when status = 'completed' then 1 else 0 end), 0) as completed,
  coalesce(max(updated_at), 0) as changed_at
from debate_sessions
where evaluation = :id and evaluation <> '' and (:all::boolean or token_id = :token::text or (:shared::boolean and private = 0))
