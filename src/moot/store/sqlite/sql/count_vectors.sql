select count(*) as total from memories where embedder = :embedder
