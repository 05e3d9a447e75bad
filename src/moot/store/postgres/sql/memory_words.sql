select (select coalesce(max(id), 0) from memories) as total, w.word, coalesce(v.memories, 0) as memories
from unnest(:words::text[]) as w (word) left join memory_vocabulary v on v.word = w.word
