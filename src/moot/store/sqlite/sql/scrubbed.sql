update deleted_debates set scrubbed = 1 where id in (select value from json_each(:ids))
