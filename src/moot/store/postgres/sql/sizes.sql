select (select coalesce(sum(turn_count), 0) from debate_sessions)::bigint as turns,
  (select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class
   where relnamespace = (select relnamespace from pg_class where oid = 'debate_sessions'::regclass)
     and relkind = 'r')::bigint as bytes
