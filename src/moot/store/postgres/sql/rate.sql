update debate_sessions set user_rating = :rating, updated_at = :now
where id = :id and status = 'completed'
returning *, pg_notify('moot', 'changed ' || id)
