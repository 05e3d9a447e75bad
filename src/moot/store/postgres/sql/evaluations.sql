select * from evaluations
where id >= :prefix::text and id < :prefix::text || '~'
order by created_at desc, id desc limit :limit::bigint
