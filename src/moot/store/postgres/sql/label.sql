update debate_sessions set
  title = coalesce(:title::text, title),
  pinned = coalesce(:pinned::integer, pinned),
  archived = coalesce(:archived::integer, archived),
  tags = coalesce(:tags::text, tags),
  updated_at = case
    when (coalesce(:title, title), coalesce(:pinned, pinned), coalesce(:archived, archived), coalesce(:tags, tags))
      = (title, pinned, archived, tags) then updated_at
    else :now
  end
where id = :id
  and (:seen_epoch::integer is null
    or (epoch, last_seq, status, updated_at) = (:seen_epoch, :seen_seq, :seen_status, :seen_at))
returning *, pg_notify('moot', 'changed ' || id)
