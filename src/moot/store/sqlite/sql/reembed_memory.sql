-- A process without an embedder never overwrites a memory's vector.
update memories set embedder = :embedder, embedding = :embedding where session_id = :id and :embedder <> ''
