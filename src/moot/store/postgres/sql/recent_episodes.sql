select e.* from episodes e join debate_sessions s on s.id = e.session_id
where s.evaluation = '' and (:all::boolean or s.token_id = :token::text or (:shared::boolean and s.private = 0)) and (:agent::text is null or e.agent = :agent::text)
order by e.created_at desc, e.id desc limit :limit::bigint
