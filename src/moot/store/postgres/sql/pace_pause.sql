-- The same arithmetic as `Bucket.pause` in core/pace.py.
insert into rate_limits as l (name, requests, tokens, at, paused_seconds, paused_until)
select :name, 0, 0, now, :seconds::float8, now + :seconds::float8
from (select coalesce(:now::float8, extract(epoch from clock_timestamp())::float8) as now) as clock
on conflict (name) do update set (requests, tokens, at, paused_seconds, paused_until) = (
  select
    least(0, l.requests + :requests::float8 * (since - l.at)),
    least(0, l.tokens + :tokens::float8 * (since - l.at)),
    since,
    l.paused_seconds + until - greatest(l.paused_until, excluded.at),
    until
  from (
    select greatest(l.at, greatest(excluded.at, l.paused_until) - l.paused_seconds) as since,
      greatest(l.paused_until, excluded.at + :seconds) as until
  ) as clock
)
