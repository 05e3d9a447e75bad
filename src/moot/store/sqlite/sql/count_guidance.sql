update debate_sessions set guided = guided + 1, updated_at = :now
where id = :id and status not in ('completed', 'canceled')
returning guided
