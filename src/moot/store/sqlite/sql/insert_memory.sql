insert into memories (session_id, decided, demonstration, embedder, embedding, words, created_at)
select :id, :decided, :demonstration, :embedder, :embedding, :words, :now
where exists (select 1 from debate_sessions where id = :id)
on conflict (session_id) do nothing
returning id
