-- The columns are SQLite's. Times are seconds since 1970, UTC; JSON columns hold text, whose bytes replay compares.
-- What is sorted or searched by its beginning sorts by bytes, whatever the database's own collation.
create table debate_sessions (
  id text collate "C" primary key,
  debate_id text,
  topic text not null,
  format text not null,
  format_version integer not null,
  status text not null check (status in
    ('pending', 'running', 'waiting', 'stopping', 'stopped', 'failed', 'completed', 'canceled')),
  topology_type text,
  coordination_protocol text,
  config text not null default '{}',
  "cast" text not null default '[]',
  initiated_by text not null default '',
  created_at double precision not null,
  updated_at double precision not null,
  started_at double precision,
  completed_at double precision,
  total_rounds integer not null default 0,
  final_consensus_score double precision,
  outcome text,
  error text,
  metadata text not null default '{}',
  parent_id text,
  forked_at text,
  next_round integer,
  next_actor text,
  open_keys text not null default '[]',
  epoch integer not null default 0,
  owner text,
  lease_until double precision,
  last_seq integer not null default 0,
  shown_count integer not null default 0,
  turn_count integer not null default 0,
  guided integer not null default 0,
  tokens_in bigint not null default 0,
  tokens_out bigint not null default 0,
  cost_usd double precision default 0,
  lost_tokens_in bigint not null default 0,
  lost_tokens_out bigint not null default 0,
  lost_cost_usd double precision default 0,
  user_rating integer check (user_rating between 1 and 5),
  auto_score double precision,
  quality_score double precision,
  remembered text collate "C",  -- by which embedder, '' without one; null: not yet
  -- which claim or commit came last, and where its events ended: whoever lost the connection can tell if it arrived
  last_write text,
  last_write_seq integer
) with (fillfactor = 70);  -- room for each step's new version of the row beside the old one, where no index is written
create index debate_sessions_newest on debate_sessions (created_at desc, id desc);
create index debate_sessions_by_status on debate_sessions (status, created_at desc, id desc);
create index debate_sessions_by_format on debate_sessions (format, created_at desc, id desc);
create index debate_sessions_by_owner on debate_sessions (owner) where owner is not null;
create index debate_sessions_to_remember on debate_sessions (remembered, completed_at) where status = 'completed';

create table debate_turns (
  id text collate "C" primary key,
  session_id text collate "C" not null references debate_sessions (id),
  seq integer not null,
  key text collate "C" not null,
  kind text not null,
  round integer not null,
  phase text not null,
  agent_id text not null,
  agent_role text not null,
  provider text not null default '',
  model text not null default '',
  content text not null,
  raw text,
  data text,
  failure text,
  confidence double precision,
  tool_calls text,
  test_results text,
  reflections text,
  metadata text not null default '{}',
  tokens_in bigint not null default 0,
  tokens_out bigint not null default 0,
  tokens_cached bigint not null default 0,
  cost_usd double precision,
  finish_reason text not null default '',
  duration_ms bigint not null default 0,
  response_time_ms bigint,
  prompt text not null default '',
  prompt_hash text not null default '',
  started_at double precision not null,
  created_at double precision not null,
  unique (session_id, key)
);

create table debate_events (
  session_id text collate "C" not null references debate_sessions (id),
  seq integer not null,
  type text not null,
  key text collate "C" not null default '',
  data text not null default '{}',
  created_at double precision not null,
  unique (session_id, seq)
);

create table debate_gates (
  id text collate "C" primary key,
  session_id text collate "C" not null references debate_sessions (id),
  key text collate "C" not null,
  kind text not null,
  phase text not null default '',
  summary text not null default '',
  artifacts text not null default '{}',
  options text not null default '[]',
  status text not null default 'open',
  requested_at double precision not null,
  expires_at double precision,
  decision text,
  reviewer text,
  reason text,
  decided_at double precision,
  unique (session_id, key)
);
create index debate_gates_open on debate_gates (expires_at) where status = 'open';

create table code_versions (
  id text collate "C" primary key,
  session_id text collate "C" not null references debate_sessions (id),
  turn_id text collate "C" references debate_turns (id),
  language text not null,
  code text not null,
  version_number integer not null,
  quality_score double precision,
  test_pass_rate double precision,
  metrics text not null default '{}',
  diff_from_previous text,
  created_at double precision not null,
  unique (session_id, version_number)
);

create table episodes (
  id text collate "C" primary key,
  session_id text collate "C" references debate_sessions (id),
  turn_id text collate "C" references debate_turns (id),
  agent_id text not null,
  task_description text not null,
  attempt_number integer not null default 1,
  code text,
  test_results text,
  failure_analysis text,
  reflection text,
  improvement text,
  confidence double precision,
  created_at double precision not null
);

create table lessons (
  id text collate "C" primary key,
  episode_id text collate "C" references episodes (id),
  insight text not null,
  domain text not null default '',
  confidence double precision,
  embedding bytea,
  created_at double precision not null
);

create table templates (
  id text collate "C" primary key,
  name text not null,
  content text not null,
  metadata text not null default '{}',
  embedding bytea,
  created_at double precision not null
);

-- What completed debates decided, to be found again. The words come in the form in which they are compared.
create table memories (
  id bigint generated always as identity primary key,
  session_id text collate "C" not null unique references debate_sessions (id),
  decided boolean not null,
  demonstration boolean not null,
  embedder text not null default '',
  embedding bytea,
  words tsvector not null,
  created_at double precision not null
);
create index memories_by_embedder on memories (embedder, id);
create index memories_by_words on memories using gin (words);
create table memory_vocabulary (
  word text collate "C" primary key,
  memories bigint not null
);
create table embeddings (
  embedder text not null,
  hash text not null,
  embedding bytea not null,
  created_at double precision not null,
  primary key (embedder, hash)
);

-- Who may use the API: only hashes of secrets are kept. A session of a browser has a parent, the token it was opened with.
create table access_tokens (
  id text primary key,
  name text collate "C" not null,
  hash text not null unique,
  scopes text not null,
  parent text references access_tokens (id) on delete cascade,
  created_at double precision not null,
  expires_at double precision
);
create unique index access_tokens_by_name on access_tokens (name) where parent is null;
create index access_tokens_by_parent on access_tokens (parent) where parent is not null;

-- Requests that create a debate, so that a repetition creates none.
create table reservations (
  key text primary key,
  hash text not null,
  session_id text not null,
  response text,
  created_at double precision not null
);
create index reservations_by_age on reservations (created_at);
