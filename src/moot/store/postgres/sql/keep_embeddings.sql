insert into embeddings (embedder, hash, embedding, created_at)
select :embedder, k.hash, k.embedding, :now from unnest(:hashes::text[], :embeddings::bytea[]) as k (hash, embedding)
order by k.hash
on conflict (embedder, hash) do nothing
