-- Embedded by another embedder, or by none. Without the hints SQLite scans all completed debates.
select * from (
  select * from debate_sessions indexed by debate_sessions_to_remember
  where status = 'completed' and remembered < :embedder limit :limit
)
union all
select * from (
  select * from debate_sessions indexed by debate_sessions_to_remember
  where status = 'completed' and remembered > :embedder limit :limit
)
limit :limit
