with made as (
  insert into debate_sessions (/* session columns */)
  select /* session columns */ from json_populate_recordset(null::debate_sessions, :session::json)
  on conflict do nothing
  returning id
), said as (
  insert into debate_turns (/* turn columns */)
  select /* turn columns */ from json_populate_recordset(null::debate_turns, :turns::json)
  where exists (select 1 from made)
), shown as (
  insert into debate_events (session_id, seq, type, key, data, created_at)
  select session_id, seq, type, key, data, created_at
  from json_populate_recordset(null::debate_events, :events::json) where exists (select 1 from made)
), asked as (
  insert into debate_gates (id, session_id, /* gate columns */)
  select id, session_id, /* gate columns */
  from json_populate_recordset(null::debate_gates, :gates::json) where exists (select 1 from made)
)
select id, pg_notify('moot', 'changed ' || id) from made
