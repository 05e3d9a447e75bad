-- Times are seconds since 1970, UTC. JSON is stored as text: replay compares bytes.

create table debate_sessions (
  id text primary key,
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
  created_at real not null,
  updated_at real not null,
  started_at real,                              -- by the first claim
  completed_at real,
  -- The lease. `epoch` is the fencing number: each claim raises it, and a commit must name the current one.
  epoch integer not null default 0,
  owner text,
  lease_until real,
  crashes integer not null default 0,           -- drivers in a row that died or fell silent before a step was stored
  alone integer not null default 0,            -- of these in a row, those that drove nothing else
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
  tokens_in integer not null default 0,
  tokens_out integer not null default 0,
  cost_usd real default 0,                      -- null: unknown, like any sum with an unknown part
  lost_tokens_in integer not null default 0,    -- lost: paid for calls that led to no turn
  lost_tokens_out integer not null default 0,
  lost_cost_usd real default 0,
  outcome text,                                 -- JSON
  error text,                                   -- JSON: why it failed; a claim clears it
  user_rating integer check (user_rating between 1 and 5),
  turned_out text,                              -- JSON: how the decision turned out
  quarantined_at real,                          -- since when its decision is kept from being recalled
  quarantined_by text,
  remembered text,                              -- embedder of its memory, '' without one; null: no memory yet
  private integer not null default 0 check (private in (0, 1)),  -- only its token, and `admin`, see it
  imported integer not null default 0,          -- it comes from another database
  evaluation text not null default '',          -- the evaluation whose cell it is; '': none
  -- Labels, by which people find it again.
  title text not null default '',               -- '': its question
  pinned integer not null default 0 check (pinned in (0, 1)),
  archived integer not null default 0 check (archived in (0, 1)),
  tags text not null default '[]'               -- JSON
);
create index debate_sessions_by_evaluation on debate_sessions (evaluation, created_at desc, id desc)
  where evaluation <> '';

-- Plans of evaluations. Their cells are debates, whose ids follow from the plan.
create table evaluations (
  id text primary key,
  name text not null,
  plan text not null,                           -- JSON
  created_at real not null,
  stopped_at real                               -- since when no new block is begun; null: it may go on
);
-- What the tests of items made of answers, run after the debates had ended.
create table grades (
  evaluation text not null references evaluations (id) on delete cascade,
  item text not null,
  answer text not null,                         -- sha256
  passed integer not null check (passed in (0, 1)),
  examples integer not null,                    -- of those that the question states, how many it passes
  primary key (evaluation, item, answer)
);
create index debate_sessions_newest on debate_sessions (created_at desc, id desc);
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

-- Of deleted debates: no content. An id is never used again.
create table deleted_debates (
  id text primary key,
  deleted_at real not null,
  deleted_by text not null,
  scrubbed integer not null default 0           -- only SQLite: whether its text is overwritten in the file, too
);
create index deleted_debates_to_scrub on deleted_debates (id) where not scrubbed;

create table debate_turns (
  session_id text not null references debate_sessions (id),
  seq integer not null,
  key text not null,
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
  tokens_in integer not null,
  tokens_out integer not null,
  tokens_cached integer not null,
  cost_usd real,                                -- null: unknown
  finish_reason text not null,
  duration_ms integer not null,
  response_time_ms integer,                     -- until the first token
  prompt text not null,
  prompt_hash text not null,
  metadata text not null,                       -- JSON
  started_at real not null,
  created_at real not null,
  primary key (session_id, key)
);

create table debate_events (
  session_id text not null references debate_sessions (id),
  seq integer not null,
  type text not null,
  key text not null,                            -- of the turn that the event shows, or ''
  data text not null,                           -- JSON
  created_at real not null,
  primary key (session_id, seq)
);

-- Questions to people, and guidance, which is stored as a gate that is decided already.
create table debate_gates (
  id text primary key,
  session_id text not null references debate_sessions (id),
  key text not null,
  kind text not null,
  question text not null default '',
  choices text not null default '[]',           -- JSON
  artifacts text not null default '{}',         -- JSON: what helps to decide
  status text not null default 'open',
  requested_at real not null,
  expires_at real,
  decision text,                                -- JSON
  reviewer text,
  decided_at real,
  unique (session_id, key)
);
create index debate_gates_open on debate_gates (expires_at) where status = 'open';

-- What the rules of debates have produced. An id is derived from the debate's, so that no repetition stores it twice.
create table code_versions (
  id text primary key,
  session_id text not null references debate_sessions (id),
  turn_id text,                                 -- the turn's key; null: before all turns
  version_number integer not null,              -- from 1, in its debate
  author text not null,                         -- a seat
  language text not null,
  code text not null,
  sha256 text not null,                         -- of the code
  parent_id text,                               -- the version that it changes
  test_pass_rate real,                          -- 0 to 1; null: nothing was run
  quality_score real,                           -- 0 to 1; null: nothing was run
  metrics text not null,                        -- JSON
  diff_from_previous text not null,             -- from the parent's code
  label text not null,
  round integer not null,
  phase text not null,
  created_at real not null,
  foreign key (session_id, turn_id) references debate_turns (session_id, key)
);
create unique index code_versions_by_number on code_versions (session_id, version_number);

create table episodes (
  id text primary key,
  session_id text not null references debate_sessions (id),
  turn_id text,
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
  confidence real,                              -- 0 to 1
  model text not null,
  demonstration integer not null,               -- 1: a demonstration model took part
  round integer not null,
  phase text not null,
  created_at real not null,
  foreign key (session_id, turn_id) references debate_turns (session_id, key)
);
create unique index episodes_by_number on episodes (session_id, number);
create index episodes_newest on episodes (created_at desc, id desc);

create table lessons (
  id text primary key,
  session_id text not null references debate_sessions (id),
  turn_id text,
  number integer not null,                      -- from 1, in its debate
  text text not null,
  applies_when text not null,
  episodes text not null,                       -- JSON: the ids of those it cites
  confirmed integer not null,                   -- 1: in its debate, a failure that it cites was followed by a pass
  model text not null,
  demonstration integer not null,               -- 1: a demonstration model took part
  round integer not null,
  phase text not null,
  created_at real not null,
  foreign key (session_id, turn_id) references debate_turns (session_id, key)
);
create unique index lessons_by_number on lessons (session_id, number);
create index lessons_newest on lessons (created_at desc, id desc);

-- Debates that recalled a lesson, and whether it held: what confirms and contradicts it. There is no reference to the
-- lesson, which can be forgotten.
create table lesson_uses (
  id text primary key,
  session_id text not null references debate_sessions (id),
  turn_id text,
  number integer not null,                      -- from 1, in its debate
  lesson_id text not null,
  held integer,                                 -- 0 or 1; null: the record says neither
  note text not null,
  round integer not null,
  phase text not null,
  created_at real not null,
  foreign key (session_id, turn_id) references debate_turns (session_id, key)
);
create unique index lesson_uses_by_number on lesson_uses (session_id, number);
create index lesson_uses_by_lesson on lesson_uses (lesson_id);

-- Completed debates, as memory finds them again.
create table memories (
  id integer primary key autoincrement,         -- never used again: caches read on from the last they know
  session_id text not null unique references debate_sessions (id),
  decided integer not null,
  demonstration integer not null,
  embedder text not null,                       -- '' without a vector
  embedding blob,
  words text not null,                          -- the terms again: FTS5 forgets only what it is shown
  created_at real not null
);
create index memories_by_embedder on memories (embedder);
-- The terms are normalized already and separated by spaces: the tokenizer only splits.
create virtual table memory_words using fts5 (words, content = '', tokenize = 'ascii');
create virtual table memory_vocabulary using fts5vocab (memory_words, 'row');

-- A cache of vectors of other texts, by the text's hash.
create table embeddings (
  embedder text not null,
  hash text not null,
  embedding blob not null,
  created_at real not null,
  primary key (embedder, hash)
);

-- API tokens and browser sessions. Only hashes of the secrets are stored.
create table access_tokens (
  id text primary key,
  name text not null,
  hash text not null unique,
  scopes text not null,                         -- JSON
  parent text references access_tokens (id) on delete cascade,  -- of a browser session: the token that opened it
  debate_id text references debate_sessions (id) on delete cascade,  -- of a share: the only debate that it shows
  created_at real not null,
  expires_at real,
  last_used_at real,                        -- about: written at most once a minute
  old_hash text unique,                         -- of the secret before the last rotation
  old_until real                            -- when that one ends
);
create unique index access_tokens_by_name on access_tokens (name) where parent is null and debate_id is null;
create index access_tokens_by_parent on access_tokens (parent) where parent is not null;
create index access_tokens_by_debate on access_tokens (debate_id) where debate_id is not null;

-- What was used on each day of UTC: by a debate, or by a chore of a chat client. A debate's commits write it in the same
-- transaction. There is no reference to the debate: one that is deleted stays paid for.
create table spending (
  day integer not null,                         -- since 1970
  session_id text not null,
  token_id text not null,                       -- who pays: an access token; '': the local user
  epoch integer not null,                       -- of the driver that has reserved
  cost_usd real not null default 0,                 -- unknown prices count as 0
  tokens_out integer not null default 0,
  reserved_usd real not null default 0,             -- the most that calls in flight may use
  reserved_tokens integer not null default 0,
  unsettled_usd real not null default 0,            -- reserved by a process that died before its calls ended
  unsettled_tokens integer not null default 0,
  primary key (day, session_id)
);
create index spending_by_token on spending (day, token_id);

-- Requests that create a debate, so that a repetition creates none.
create table idempotency_keys (
  key text primary key,
  hash text not null,                           -- of the request
  session_id text not null,                     -- the debate it creates
  response text,                                -- null: not answered yet
  created_at real not null
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
