select * from debate_sessions
where true /* filters */
order by created_at desc, id desc
limit :limit
