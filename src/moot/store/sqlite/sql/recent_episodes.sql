select e.* from episodes e join debate_sessions s on s.id = e.session_id
where s.evaluation = '' and (:all or s.token_id = :token or (:shared and s.private = 0)) and (:agent is null or e.agent = :agent)
order by e.created_at desc, e.id desc limit :limit
