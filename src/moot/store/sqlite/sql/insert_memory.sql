insert into memories (session_id, decided, demonstration, embedder, embedding, created_at)
select :id, :decided, :demonstration, :embedder, :embedding, :now
where exists (select 1 from debate_sessions where id = :id)
on conflict (session_id) do nothing
returning id
