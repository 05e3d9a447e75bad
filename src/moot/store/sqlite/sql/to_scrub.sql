select id from deleted_debates where not scrubbed
