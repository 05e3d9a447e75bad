with made as (
  insert into debate_sessions (/* session columns */) values (/* session values */) returning *
), said as (
  insert into debate_turns (/* turn columns */)
  select /* turn columns */ from json_populate_recordset(null::debate_turns, :turns::json)
), shown as (
  insert into debate_events (session_id, seq, type, key, data, created_at)
  select made.id, e.n, e.type, e.key, e.data, made.created_at
  from made, json_to_recordset(:events::json) as e (n integer, type text, key text, data text)
)
select *, pg_notify('moot', 'changed ' || id || ' ' || status) from made
