-- Tables and columns are those of the SQLite store; what only PostgreSQL has says so.
-- Times are seconds since 1970, UTC. JSON is stored as text: replay compares bytes.
-- collate "C": what is sorted, or found by its prefix, compares bytes, whatever the database's own collation.

create table debate_sessions (
  id text collate "C" primary key,
  topic text not null,
  format text not null,
  format_version integer not null,
  status text not null check (status in
    ('pending', 'running', 'waiting', 'stopping', 'stopped', 'failed', 'completed', 'canceled')),
  config text not null,                         -- JSON: the format's settings, completed by defaults
  "cast" text not null,                         -- JSON: the seats
  metadata text not null,                       -- JSON
  initiated_by text not null,
  token_id text not null default '',            -- the access token it was made with; '': the local user
  parent_id text,                               -- the debate this one was forked from
  forked_at text,                               -- the key asked anew in a fork
  follows text,                                 -- the debate that its question was asked after
  created_at double precision not null,
  updated_at double precision not null,
  started_at double precision,                  -- by the first claim
  completed_at double precision,
  -- The lease. `epoch` is the fencing number: each claim raises it, and a commit must name the current one.
  epoch integer not null default 0,
  owner text,
  lease_until double precision,
  crashes integer not null default 0,           -- drivers in a row that died or fell silent before a step was stored
  alone integer not null default 0,             -- of these in a row, those that drove nothing else
  -- Only PostgreSQL: id of the last claim or commit, and the `last_seq` it led to. A write whose connection was lost
  -- before the answer came is found by it.
  last_write text,
  last_write_seq integer,
  -- The cursor, derived from the turns.
  open_keys text not null default '[]',         -- JSON
  next_round integer,
  next_actor text,
  -- Running totals, kept by the commits.
  last_seq integer not null default 0,          -- of the events
  shown_count integer not null default 0,       -- events that came from the script
  artifact_count integer not null default 0,    -- artifacts that came from the script
  turn_count integer not null default 0,
  total_rounds integer not null default 0,
  guided integer not null default 0,            -- how often guidance was given
  tokens_in bigint not null default 0,
  tokens_out bigint not null default 0,
  cost_usd double precision default 0,          -- null: unknown, like any sum with an unknown part
  lost_tokens_in bigint not null default 0,     -- lost: paid for calls that led to no turn
  lost_tokens_out bigint not null default 0,
  lost_cost_usd double precision default 0,
  outcome text,                                 -- JSON
  error text,                                   -- JSON: why it failed; a claim clears it
  user_rating integer check (user_rating between 1 and 5),
  turned_out text,                              -- JSON: how the decision turned out
  quarantined_at double precision,              -- since when its decision is kept from being recalled
  quarantined_by text,
  remembered text collate "C",                  -- embedder of its memory, '' without one; null: no memory yet
  private integer not null default 0 check (private in (0, 1)),  -- only its token, and `admin`, see it
  imported integer not null default 0,          -- it comes from another database
  evaluation text collate "C" not null default '',  -- the evaluation whose cell it is; '': none
  -- Labels, by which people find it again.
  title text not null default '',               -- '': its question
  pinned integer not null default 0 check (pinned in (0, 1)),
  archived integer not null default 0 check (archived in (0, 1)),
  tags text not null default '[]'               -- JSON
) with (fillfactor = 70);  -- a step's new row version fits on the same page, and no index is written (HOT update)
create index debate_sessions_newest on debate_sessions (created_at desc, id desc);
create index debate_sessions_by_evaluation on debate_sessions (evaluation, created_at desc, id desc)
  where evaluation <> '';
create index debate_sessions_by_status on debate_sessions (status, created_at desc, id desc);
create index debate_sessions_by_format on debate_sessions (format, created_at desc, id desc);
create index debate_sessions_by_parent on debate_sessions (parent_id, created_at desc, id desc)
  where parent_id is not null;
create index debate_sessions_by_follows on debate_sessions (follows, created_at desc, id desc)
  where follows is not null;
create index debate_sessions_by_token on debate_sessions (token_id, created_at desc, id desc);
create index debate_sessions_private on debate_sessions (token_id, created_at desc, id desc) where private = 1;
create index debate_sessions_pinned on debate_sessions (created_at desc, id desc) where pinned = 1;
create index debate_sessions_by_owner on debate_sessions (owner) where owner is not null;
create index debate_sessions_to_remember on debate_sessions (remembered, completed_at) where status = 'completed';
create index debate_sessions_in_quarantine on debate_sessions (id) where quarantined_at is not null;

-- Plans of evaluations. Their cells are debates, whose ids follow from the plan.
create table evaluations (
  id text collate "C" primary key,
  name text not null,
  plan text not null,                           -- JSON
  created_at double precision not null,
  stopped_at double precision                   -- since when no new block is begun; null: it may go on
);
-- What the tests of items made of answers, run after the debates had ended.
create table grades (
  evaluation text not null references evaluations (id) on delete cascade,
  item text not null,
  answer text not null,                         -- sha256
  passed boolean not null,
  examples integer not null,                    -- of those that the question states, how many it passes
  primary key (evaluation, item, answer)
);

-- Of deleted debates: no content. An id is never used again.
create table deleted_debates (
  id text collate "C" primary key,
  deleted_at double precision not null,
  deleted_by text not null
);
-- Only PostgreSQL, where the check and the insert of two processes can overlap: run after the insert, this sees what was
-- committed while the insert waited for the id.
create function refuse_deleted_debate() returns trigger language plpgsql as $$
begin
  if exists (select 1 from deleted_debates where id = new.id) then
    raise exception 'debate % was deleted', new.id using errcode = 'MD410';
  end if;
  return null;
end
$$;
create trigger debate_sessions_stay_deleted after insert on debate_sessions
  for each row execute function refuse_deleted_debate();

create table debate_turns (
  session_id text collate "C" not null references debate_sessions (id),
  seq integer not null,
  key text collate "C" not null,
  kind text not null,
  round integer not null,
  phase text not null,
  seat text not null,
  role text not null,
  content text not null,
  raw text,                                     -- what the model wrote, where that is not `content`
  data text,                                    -- JSON: the typed answer
  tool_calls text,                              -- JSON: uses of tools: request, limits, programs, how they ended
  test_results text,                            -- JSON: each case that was run, its outcome, and what it got
  reflections text,                             -- JSON: what the seat makes of its failures
  failure text,                                 -- JSON
  model text not null,
  provider text not null,
  tokens_in bigint not null,
  tokens_out bigint not null,
  tokens_cached bigint not null,
  cost_usd double precision,                    -- null: unknown
  finish_reason text not null,
  duration_ms bigint not null,
  response_time_ms bigint,                      -- until the first token
  prompt text not null,
  prompt_hash text not null,
  metadata text not null,                       -- JSON
  started_at double precision not null,
  created_at double precision not null,
  primary key (session_id, key)
);

create table debate_events (
  session_id text collate "C" not null references debate_sessions (id),
  seq integer not null,
  type text not null,
  key text collate "C" not null,                -- of the turn that the event shows, or ''
  data text not null,                           -- JSON
  created_at double precision not null,
  primary key (session_id, seq)
);

-- Questions to people, and guidance, which is stored as a gate that is decided already.
create table debate_gates (
  id text collate "C" primary key,
  session_id text collate "C" not null references debate_sessions (id),
  key text collate "C" not null,
  kind text not null,
  question text not null default '',
  choices text not null default '[]',           -- JSON
  artifacts text not null default '{}',         -- JSON: what helps to decide
  status text not null default 'open',
  requested_at double precision not null,
  expires_at double precision,
  decision text,                                -- JSON
  reviewer text,
  decided_at double precision,
  unique (session_id, key)
);
create index debate_gates_open on debate_gates (expires_at) where status = 'open';

-- What the rules of debates have produced. An id is derived from the debate's, so that no repetition stores it twice.
create table code_versions (
  id text collate "C" primary key,
  session_id text collate "C" not null references debate_sessions (id),
  turn_id text collate "C",                     -- the turn's key; null: before all turns
  version_number integer not null,              -- from 1, in its debate
  author text not null,                         -- a seat
  language text not null,
  code text not null,
  sha256 text not null,                         -- of the code
  parent_id text,                               -- the version that it changes
  test_pass_rate double precision,              -- 0 to 1; null: nothing was run
  quality_score double precision,               -- 0 to 1; null: nothing was run
  metrics text not null,                        -- JSON
  diff_from_previous text not null,             -- from the parent's code
  label text not null,
  round integer not null,
  phase text not null,
  created_at double precision not null,
  foreign key (session_id, turn_id) references debate_turns (session_id, key)
);
create unique index code_versions_by_number on code_versions (session_id, version_number);

create table episodes (
  id text collate "C" primary key,
  session_id text collate "C" not null references debate_sessions (id),
  turn_id text collate "C",
  number integer not null,                      -- from 1, in its debate
  agent text not null,                          -- a seat, or a role
  task text not null,
  attempt integer not null,
  code_sha256 text not null,
  passed integer,                               -- 0 or 1; null: nothing was run
  test_results text not null,                   -- JSON
  failure_analysis text not null,
  reflection text not null,
  improvement text not null,
  confidence double precision,                  -- 0 to 1
  model text not null,
  demonstration integer not null,               -- 1: a demonstration model took part
  round integer not null,
  phase text not null,
  created_at double precision not null,
  foreign key (session_id, turn_id) references debate_turns (session_id, key)
);
create unique index episodes_by_number on episodes (session_id, number);
create index episodes_newest on episodes (created_at desc, id desc);

create table lessons (
  id text collate "C" primary key,
  session_id text collate "C" not null references debate_sessions (id),
  turn_id text collate "C",
  number integer not null,                      -- from 1, in its debate
  text text not null,
  applies_when text not null,
  episodes text not null,                       -- JSON: the ids of those it cites
  confirmed integer not null,                   -- 1: in its debate, a failure that it cites was followed by a pass
  model text not null,
  demonstration integer not null,               -- 1: a demonstration model took part
  round integer not null,
  phase text not null,
  created_at double precision not null,
  foreign key (session_id, turn_id) references debate_turns (session_id, key)
);
create unique index lessons_by_number on lessons (session_id, number);
create index lessons_newest on lessons (created_at desc, id desc);

-- Debates that recalled a lesson, and whether it held: what confirms and contradicts it. There is no reference to the
-- lesson, which can be forgotten.
create table lesson_uses (
  id text collate "C" primary key,
  session_id text collate "C" not null references debate_sessions (id),
  turn_id text collate "C",
  number integer not null,                      -- from 1, in its debate
  lesson_id text collate "C" not null,
  held integer,                                 -- 0 or 1; null: the record says neither
  note text not null,
  round integer not null,
  phase text not null,
  created_at double precision not null,
  foreign key (session_id, turn_id) references debate_turns (session_id, key)
);
create unique index lesson_uses_by_number on lesson_uses (session_id, number);
create index lesson_uses_by_lesson on lesson_uses (lesson_id);

-- Completed debates, as memory finds them again.
create table memories (
  id bigint generated always as identity primary key,
  session_id text collate "C" not null unique references debate_sessions (id),
  decided boolean not null,
  demonstration boolean not null,
  embedder text not null,                       -- '' without a vector
  embedding bytea,
  words tsvector not null,                      -- only PostgreSQL: the terms, normalized already
  created_at double precision not null
);
create index memories_by_embedder on memories (embedder, id);
create index memories_by_words on memories using gin (words);
create table memory_vocabulary (
  word text collate "C" primary key,
  memories bigint not null                      -- document frequency: how many have the word
);

-- A cache of vectors of other texts, by the text's hash.
create table embeddings (
  embedder text not null,
  hash text not null,
  embedding bytea not null,
  created_at double precision not null,
  primary key (embedder, hash)
);

-- API tokens and browser sessions. Only hashes of the secrets are stored.
create table access_tokens (
  id text primary key,
  name text collate "C" not null,
  hash text not null unique,
  scopes text not null,                         -- JSON
  parent text references access_tokens (id) on delete cascade,  -- of a browser session: the token that opened it
  debate_id text collate "C" references debate_sessions (id) on delete cascade,  -- of a share: the only debate that it shows
  created_at double precision not null,
  expires_at double precision,
  last_used_at double precision,            -- about: written at most once a minute
  old_hash text unique,                         -- of the secret before the last rotation
  old_until double precision                -- when that one ends
);
create unique index access_tokens_by_name on access_tokens (name) where parent is null and debate_id is null;
create index access_tokens_by_parent on access_tokens (parent) where parent is not null;
create index access_tokens_by_debate on access_tokens (debate_id) where debate_id is not null;

-- What was used on each day of UTC: by a debate, or by a chore of a chat client. A debate's commits write it in the same
-- transaction. There is no reference to the debate: one that is deleted stays paid for.
create table spending (
  day integer not null,                         -- since 1970
  session_id text collate "C" not null,
  token_id text not null,                       -- who pays: an access token; '': the local user
  epoch integer not null,                       -- of the driver that has reserved
  cost_usd double precision not null default 0,     -- unknown prices count as 0
  tokens_out bigint not null default 0,
  reserved_usd double precision not null default 0, -- the most that calls in flight may use
  reserved_tokens bigint not null default 0,
  unsettled_usd double precision not null default 0,-- reserved by a process that died before its calls ended
  unsettled_tokens bigint not null default 0,
  primary key (day, session_id)
) with (fillfactor = 70);
create index spending_by_token on spending (day, token_id);

-- Requests that create a debate, so that a repetition creates none.
create table idempotency_keys (
  key text primary key,
  hash text not null,                           -- of the request
  session_id text not null,                     -- the debate it creates
  response text,                                -- null: not answered yet
  created_at double precision not null
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Only PostgreSQL: token buckets of the rate limits that all processes share. Times are the server's. Unlogged: a call
-- gets its reservation without waiting for the disk, and after a crash the buckets start anew.
create unlogged table rate_limits (
  name text primary key,
  requests double precision not null,           -- left at `at`
  tokens double precision not null,             -- left at `at`
  at double precision not null,                 -- when the last reservation starts, on a clock that stops in pauses
  paused_seconds double precision not null,     -- of all pauses
  paused_until double precision not null
) with (fillfactor = 50);

-- Only PostgreSQL: presence of the workers, refreshed by their heartbeats.
create table workers (
  name text primary key,
  version text not null,
  started_at double precision not null,
  seen_at double precision not null,
  debates integer not null,                     -- driven now
  room integer not null,                        -- driven at most
  draining boolean not null,
  abilities text[] not null                     -- what its machine can do, of what formats need
);
