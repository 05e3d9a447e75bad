update debate_sessions set
  title = coalesce(:title, title),
  pinned = coalesce(:pinned, pinned),
  archived = coalesce(:archived, archived),
  tags = coalesce(:tags, tags),
  updated_at = case
    when (coalesce(:title, title), coalesce(:pinned, pinned), coalesce(:archived, archived), coalesce(:tags, tags))
      = (title, pinned, archived, tags) then updated_at
    else :now
  end
where id = :id
  and (:seen_epoch is null or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
returning *
