create index debate_sessions_by_parent on debate_sessions (parent_id, created_at desc, id desc)
  where parent_id is not null;
