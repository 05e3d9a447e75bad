select * from deleted_debates where id = any(:ids::text[]) order by id
