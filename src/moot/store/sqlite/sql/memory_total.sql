select coalesce(max(id), 0) as total from memories
