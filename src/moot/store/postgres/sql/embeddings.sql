select hash, embedding from embeddings where embedder = :embedder and hash = any(:hashes::text[])
