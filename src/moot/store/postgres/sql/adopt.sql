with made as (
  insert into debate_sessions (/* session columns */, imported)
  select /* session columns */, 1 from json_populate_recordset(null::debate_sessions, :session::json)
  on conflict do nothing
  returning id
), said as (
  insert into debate_turns (/* turn columns */)
  select /* turn columns */ from json_populate_recordset(null::debate_turns, :turns::json)
  where exists (select 1 from made)
), shown as (
  insert into debate_events (/* event columns */)
  select /* event columns */
  from json_populate_recordset(null::debate_events, :events::json) where exists (select 1 from made)
), asked as (
  insert into debate_gates (id, session_id, /* gate columns */)
  select id, session_id, /* gate columns */
  from json_populate_recordset(null::debate_gates, :gates::json) where exists (select 1 from made)
), versions as (
  insert into code_versions (/* version columns */)
  select /* version columns */ from json_populate_recordset(null::code_versions, :versions::json)
  where exists (select 1 from made)
), episodes as (
  insert into episodes (/* episode columns */)
  select /* episode columns */ from json_populate_recordset(null::episodes, :episodes::json)
  where exists (select 1 from made)
), lessons as (
  insert into lessons (/* lesson columns */)
  select /* lesson columns */ from json_populate_recordset(null::lessons, :lessons::json)
  where exists (select 1 from made)
), uses as (
  insert into lesson_uses (/* use columns */)
  select /* use columns */ from json_populate_recordset(null::lesson_uses, :uses::json)
  where exists (select 1 from made)
)
select id, pg_notify('moot', 'changed ' || id) from made
