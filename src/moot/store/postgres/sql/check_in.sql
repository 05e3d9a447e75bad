-- Rows of workers that never checked out are deleted after an hour.
with gone as (
  delete from workers where seen_at < :now::double precision - 3600 and name <> :name
)
insert into workers (name, version, started_at, seen_at, debates, room, draining, abilities)
values (:name, :version, :started_at, :now, :debates, :room, :draining, :abilities)
on conflict (name) do update set
  seen_at = excluded.seen_at, debates = excluded.debates, room = excluded.room, draining = excluded.draining,
  abilities = excluded.abilities
