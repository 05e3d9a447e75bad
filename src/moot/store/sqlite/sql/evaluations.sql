select * from evaluations
where id >= :prefix and id < :prefix || '~'
order by created_at desc, id desc limit :limit
