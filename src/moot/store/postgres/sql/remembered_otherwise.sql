-- Embedded by another embedder, or by none. Two ranges instead of `<>`, so that the index is used.
select * from debate_sessions
where status = 'completed' and (remembered < :embedder or remembered > :embedder)
limit :limit
