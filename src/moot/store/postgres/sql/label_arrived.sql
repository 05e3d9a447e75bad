select * from debate_sessions
where id = :id
  and (coalesce(:title::text, title), coalesce(:pinned::integer, pinned), coalesce(:archived::integer, archived),
    coalesce(:tags::text, tags)) = (title, pinned, archived, tags)
