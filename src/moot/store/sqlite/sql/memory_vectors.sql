select id, session_id, decided, demonstration, embedding from memories
where embedder = :embedder and id > :after and embedding is not null
order by id limit :limit
