select hash, embedding from embeddings
where embedder = :embedder and hash in (select value from json_each(:hashes))
