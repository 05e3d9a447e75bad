-- Any number of commits, at most one of each debate. The fencing check and the change are one statement: rows of a
-- debate whose epoch has moved on find no match in `changed` and are not written. A commit that has arrived already is
-- not made twice.
with asked as (
  select * from json_to_recordset(:commits::json) as c (
    id text, epoch integer, now double precision, write_id text, status text, open_keys text, next_round integer,
    next_actor text, total_rounds integer, outcome text, error text, events integer, shown integer, artifacts integer,
    turns integer,
    tokens_in bigint, tokens_out bigint, cost_usd double precision, lost_tokens_in bigint, lost_tokens_out bigint,
    lost_cost_usd double precision, release boolean, followed boolean, books boolean, day integer,
    spent_usd double precision, spent_tokens bigint, reserved_usd double precision, reserved_tokens bigint
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
    artifact_count = s.artifact_count + c.artifacts,
    turn_count = s.turn_count + c.turns,
    crashes = case when c.turns > 0 then 0 else s.crashes end,
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
  -- Written so that only one plan is possible, whatever the statistics say when it is made: each debate is looked up by
  -- its id. With `=` and a plain `and`, the planner may read all running debates to find a few.
  where s.id between c.id and c.id
    and case when s.epoch = c.epoch and s.status in ('running', 'stopping')
        then s.last_write is distinct from c.write_id else false end
  returning s.id, s.last_seq, s.status, c.events, c.now, c.followed, c.status as ended, s.token_id, c.epoch, c.books,
    c.day, c.spent_usd, c.spent_tokens, c.reserved_usd, c.reserved_tokens
), said as (
  insert into debate_turns (/* turn columns */)
  select /* turn columns */ from json_populate_recordset(null::debate_turns, :turns::json)
  where session_id in (select id from changed)
), shown as (
  insert into debate_events (session_id, seq, type, key, data, created_at)
  select changed.id, changed.last_seq - changed.events + e.n, e.type, e.key, e.data, changed.now
  from json_to_recordset(:events::json) as e (session_id text, n integer, type text, key text, data text)
  join changed on changed.id = e.session_id
), booked as (  -- as in book_spending.sql
  insert into spending as p (
    day, session_id, token_id, epoch, cost_usd, tokens_out, reserved_usd, reserved_tokens
  )
  select day, id, token_id, epoch, spent_usd, spent_tokens, reserved_usd, reserved_tokens from changed where books
  on conflict (day, session_id) do update set
    cost_usd = p.cost_usd + excluded.cost_usd,
    tokens_out = p.tokens_out + excluded.tokens_out,
    unsettled_usd = p.unsettled_usd + case when p.epoch < excluded.epoch then p.reserved_usd else 0 end,
    unsettled_tokens = p.unsettled_tokens + case when p.epoch < excluded.epoch then p.reserved_tokens else 0 end,
    epoch = excluded.epoch,
    reserved_usd = excluded.reserved_usd,
    reserved_tokens = excluded.reserved_tokens
), asked_people as (
  insert into debate_gates as d (id, session_id, /* gate columns */)
  select id, session_id, /* gate columns */ from json_populate_recordset(null::debate_gates, :gates::json)
  where session_id in (select id from changed)
  on conflict (session_id, key) do update set expires_at = excluded.expires_at where d.status = 'open'
/* artifacts */
)
select id, last_seq, status,
  case when ended is not null then pg_notify('moot', 'changed ' || id || ' ' || status) end,
  case when followed then pg_notify(left('moot:' || id, 63), 'changed') end
from changed
