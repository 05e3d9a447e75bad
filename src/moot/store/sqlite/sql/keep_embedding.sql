insert into embeddings (embedder, hash, embedding, created_at) values (:embedder, :hash, :embedding, :now)
on conflict (embedder, hash) do nothing
