select * from deleted_debates where id in (select value from json_each(:ids)) order by id
