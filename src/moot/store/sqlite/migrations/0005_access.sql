-- Who may use the API: only hashes of secrets are kept. A session of a browser has a parent, the token it was opened with.
create table access_tokens (
  id text primary key,
  name text not null,
  hash text not null unique,
  scopes text not null,
  parent text references access_tokens (id) on delete cascade,
  created_at real not null,
  expires_at real
);
create unique index access_tokens_by_name on access_tokens (name) where parent is null;
create index access_tokens_by_parent on access_tokens (parent) where parent is not null;
-- Requests that create a debate, so that a repetition creates none.
create table reservations (
  key text primary key,
  hash text not null,
  session_id text not null,
  response text,
  created_at real not null
);
create index reservations_by_age on reservations (created_at);
