-- The time says that it was this very rating.
select * from debate_sessions where id = :id and user_rating = :rating and updated_at = :now
