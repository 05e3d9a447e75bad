-- The time says that it was this very move.
select * from debate_sessions where id = :id and status = :to and updated_at = :now
