select id, session_id, decided, demonstration, embedding from memories
where embedder = :embedder and id > :after::bigint and embedding is not null
order by id limit :limit::bigint
