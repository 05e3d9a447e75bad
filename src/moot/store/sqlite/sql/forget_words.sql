-- Terms in a table without content can only be removed by giving them once more.
insert into memory_words (memory_words, rowid, words) select 'delete', id, words from memories where session_id = :id
