-- Times are seconds since 1970, UTC. JSON columns hold text.
create table debate_sessions (
  id text primary key,
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
  created_at real not null,
  updated_at real not null,
  started_at real,
  completed_at real,
  total_rounds integer not null default 0,
  final_consensus_score real,
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
  lease_until real,
  last_seq integer not null default 0,
  shown_count integer not null default 0,
  turn_count integer not null default 0,
  tokens_in integer not null default 0,
  tokens_out integer not null default 0,
  cost_usd real default 0,
  lost_tokens_in integer not null default 0,
  lost_tokens_out integer not null default 0,
  lost_cost_usd real default 0,
  user_rating integer check (user_rating between 1 and 5),
  auto_score real,
  quality_score real
);
create index debate_sessions_newest on debate_sessions (created_at desc, id desc);
create index debate_sessions_by_status on debate_sessions (status, created_at desc, id desc);
create index debate_sessions_by_format on debate_sessions (format, created_at desc, id desc);
create index debate_sessions_by_owner on debate_sessions (owner) where owner is not null;

create table debate_turns (
  id text primary key,
  session_id text not null references debate_sessions (id),
  seq integer not null,
  key text not null,
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
  confidence real,
  tool_calls text,
  test_results text,
  reflections text,
  metadata text not null default '{}',
  tokens_in integer not null default 0,
  tokens_out integer not null default 0,
  tokens_cached integer not null default 0,
  cost_usd real,
  finish_reason text not null default '',
  duration_ms integer not null default 0,
  response_time_ms integer,
  prompt text not null default '',
  prompt_hash text not null default '',
  started_at real not null,
  created_at real not null,
  unique (session_id, key)
);

create table debate_events (
  session_id text not null references debate_sessions (id),
  seq integer not null,
  type text not null,
  key text not null default '',
  data text not null default '{}',
  created_at real not null,
  unique (session_id, seq)
);

create table debate_gates (
  id text primary key,
  session_id text not null references debate_sessions (id),
  key text not null,
  kind text not null,
  phase text not null default '',
  summary text not null default '',
  artifacts text not null default '{}',
  options text not null default '[]',
  status text not null default 'open',
  requested_at real not null,
  expires_at real,
  decision text,
  reviewer text,
  reason text,
  decided_at real,
  unique (session_id, key)
);

create table code_versions (
  id text primary key,
  session_id text not null references debate_sessions (id),
  turn_id text references debate_turns (id),
  language text not null,
  code text not null,
  version_number integer not null,
  quality_score real,
  test_pass_rate real,
  metrics text not null default '{}',
  diff_from_previous text,
  created_at real not null,
  unique (session_id, version_number)
);

create table episodes (
  id text primary key,
  session_id text references debate_sessions (id),
  turn_id text references debate_turns (id),
  agent_id text not null,
  task_description text not null,
  attempt_number integer not null default 1,
  code text,
  test_results text,
  failure_analysis text,
  reflection text,
  improvement text,
  confidence real,
  created_at real not null
);

create table lessons (
  id text primary key,
  episode_id text references episodes (id),
  insight text not null,
  domain text not null default '',
  confidence real,
  embedding blob,
  created_at real not null
);

create table templates (
  id text primary key,
  name text not null,
  content text not null,
  metadata text not null default '{}',
  embedding blob,
  created_at real not null
);
