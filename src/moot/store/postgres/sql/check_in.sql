insert into workers (name, version, started_at, seen_at, debates, room, draining)
values (:name, :version, :started_at, :now, :debates, :room, :draining)
on conflict (name) do update set
  seen_at = excluded.seen_at, debates = excluded.debates, room = excluded.room, draining = excluded.draining
