-- A memory that has a vector keeps it when someone without an embedder comes along.
update memories set embedder = :embedder, embedding = :embedding where session_id = :id and :embedder <> ''
