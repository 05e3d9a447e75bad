-- A process without an embedder never overwrites a memory's vector.
with kept as (
  insert into memories (session_id, decided, demonstration, embedder, embedding, words, created_at)
  select id, :decided, :demonstration, :embedder, :embedding, array_to_tsvector(:words::text[]), :now
  from debate_sessions where id = :id
  on conflict (session_id) do update set embedder = excluded.embedder, embedding = excluded.embedding
    where excluded.embedder <> ''
  returning embedder, xmax = 0 as new
), counted as (
  insert into memory_vocabulary as v (word, memories)
  select word, 1 from kept, unnest(:words::text[]) as word where kept.new
  on conflict (word) do update set memories = v.memories + 1
)
update debate_sessions
set remembered = coalesce((select embedder from kept), (select embedder from memories where session_id = :id))
where id = :id
