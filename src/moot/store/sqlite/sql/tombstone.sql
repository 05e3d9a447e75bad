select * from deleted_debates where id >= :prefix and id < :prefix || '~' order by id limit 2
