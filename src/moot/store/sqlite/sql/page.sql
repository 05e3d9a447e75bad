select * from debate_sessions
where (:created_at is null or (created_at, id) < (:created_at, :id)) /* filters */
order by created_at desc, id desc
limit :limit
