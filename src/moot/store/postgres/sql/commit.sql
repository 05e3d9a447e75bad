-- Any number of commits, each of another debate. The guard and the change are one statement: what belongs to a debate
-- that is someone else's now finds no row in `changed`, and is not written. A commit that has arrived is not made twice.
with asked as (
  select * from json_to_recordset(:commits::json) as c (
    id text, epoch integer, now double precision, write_id text, status text, open_keys text, next_round integer,
    next_actor text, total_rounds integer, outcome text, error text, events integer, shown integer, turns integer,
    tokens_in bigint, tokens_out bigint, cost_usd double precision, lost_tokens_in bigint, lost_tokens_out bigint,
    lost_cost_usd double precision, release boolean, wanted boolean
  )
), changed as (
  update debate_sessions s set
    updated_at = c.now,
    status = coalesce(c.status, s.status),
    completed_at = case when c.status = 'completed' then c.now else s.completed_at end,
    open_keys = coalesce(c.open_keys, s.open_keys),
    next_round = case when c.open_keys is null then s.next_round else c.next_round end,
    next_actor = case when c.open_keys is null then s.next_actor else c.next_actor end,
    total_rounds = greatest(s.total_rounds, c.total_rounds),
    outcome = coalesce(c.outcome, s.outcome),
    error = case when c.status is null then s.error else c.error end,
    last_seq = s.last_seq + c.events,
    shown_count = s.shown_count + c.shown,
    turn_count = s.turn_count + c.turns,
    tokens_in = s.tokens_in + c.tokens_in,
    tokens_out = s.tokens_out + c.tokens_out,
    cost_usd = s.cost_usd + c.cost_usd,
    lost_tokens_in = s.lost_tokens_in + c.lost_tokens_in,
    lost_tokens_out = s.lost_tokens_out + c.lost_tokens_out,
    lost_cost_usd = s.lost_cost_usd + c.lost_cost_usd,
    owner = case when c.release then null else s.owner end,
    lease_until = case when c.release then null else s.lease_until end,
    last_write = c.write_id,
    last_write_seq = s.last_seq + c.events
  from asked c
  -- Written so that only one plan is left, however few or many debates there were when it was made: each is looked up
  -- by its id. With `=` and a plain `and`, all that run could be read instead to find a few.
  where s.id between c.id and c.id
    and case when s.epoch = c.epoch and s.status in ('running', 'stopping')
        then s.last_write is distinct from c.write_id else false end
  returning s.id, s.last_seq, s.status, c.events, c.now, c.wanted, c.status as ended
), said as (
  insert into debate_turns (
    id, session_id, seq, key, kind, round, phase, agent_id, agent_role, provider, model, content, raw, data, failure,
    confidence, tool_calls, test_results, reflections, metadata, tokens_in, tokens_out, tokens_cached, cost_usd,
    finish_reason, duration_ms, response_time_ms, prompt, prompt_hash, started_at, created_at
  )
  select t.* from json_to_recordset(:turns::json) as t (
    id text, session_id text, seq integer, key text, kind text, round integer, phase text, agent_id text,
    agent_role text, provider text, model text, content text, raw text, data text, failure text,
    confidence double precision, tool_calls text, test_results text, reflections text, metadata text,
    tokens_in bigint, tokens_out bigint, tokens_cached bigint, cost_usd double precision, finish_reason text,
    duration_ms bigint, response_time_ms bigint, prompt text, prompt_hash text, started_at double precision,
    created_at double precision
  ) join changed on changed.id = t.session_id
), shown as (
  insert into debate_events (session_id, seq, type, key, data, created_at)
  select changed.id, changed.last_seq - changed.events + e.n, e.type, e.key, e.data, changed.now
  from json_to_recordset(:events::json) as e (session_id text, n integer, type text, key text, data text)
  join changed on changed.id = e.session_id
), asked_people as (
  insert into debate_gates as d (
    id, session_id, key, kind, phase, summary, artifacts, options, requested_at, expires_at
  )
  select g.id, g.session_id, g.key, g.kind, '', g.question, g.artifacts, g.choices, changed.now, g.expires_at
  from json_to_recordset(:gates::json) as g (
    id text, session_id text, key text, kind text, question text, artifacts text, choices text,
    expires_at double precision
  ) join changed on changed.id = g.session_id
  on conflict (session_id, key) do update set expires_at = excluded.expires_at where d.status = 'open'
)
select id, last_seq, status,
  case when ended is not null then pg_notify('moot', 'changed ' || id || ' ' || status) end,
  case when wanted then pg_notify(left('moot:' || id, 63), 'changed') end
from changed
