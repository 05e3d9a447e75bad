-- What is left of each rate limit when the last share taken begins to be used. Times are the server's. Unlogged: a call
-- takes its share without waiting for the disk, and after a crash everyone begins anew.
create unlogged table rate_limits (
  name text primary key,
  requests double precision not null,
  tokens double precision not null,
  at double precision not null,           -- on a clock that stands still while everyone waits
  stood_still double precision not null,  -- seconds, in all
  paused_until double precision not null
) with (fillfactor = 50);

-- Who drives debates, as each of them last said.
create table workers (
  name text primary key,
  version text not null,
  started_at double precision not null,
  seen_at double precision not null,
  debates integer not null,               -- that it drives now
  room integer not null,                  -- that it would drive at once
  draining boolean not null
);
