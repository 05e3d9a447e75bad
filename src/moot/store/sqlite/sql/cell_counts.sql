select count(*) as begun, coalesce(sum(case when status = 'completed' then 1 else 0 end), 0) as completed,
  coalesce(max(updated_at), 0) as changed_at
from debate_sessions
where evaluation = :id and evaluation <> '' and (:all or token_id = :token or (:shared and private = 0))
