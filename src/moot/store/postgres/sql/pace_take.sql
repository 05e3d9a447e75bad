-- The same arithmetic as `Bucket.take` in core/pace.py.
insert into rate_limits as l (name, requests, tokens, at, paused_seconds, paused_until)
select :name, :requests_at_once::float8 - 1, :tokens_at_once::float8 - :size::float8, now, 0, now
from (select coalesce(:now::float8, extract(epoch from clock_timestamp())::float8) as now) as clock
on conflict (name) do update set (requests, tokens, at) = (
  select
    least(:requests_at_once, had + :requests::float8 * need) - 1,
    least(:tokens_at_once, had_tokens + :tokens::float8 * need) - :size,
    since + need
  from (select greatest(l.at, greatest(excluded.at, l.paused_until) - l.paused_seconds) as since) as clock
  cross join lateral (
    select least(:requests_at_once, l.requests + :requests * (since - l.at)) as had,
      least(:tokens_at_once, l.tokens + :tokens * (since - l.at)) as had_tokens
  ) as filled
  cross join lateral (
    select greatest(
      0, (1 - had) / :requests, (least(:size, :tokens_at_once) - had_tokens) / :tokens
    ) as need
  ) as missing
)
returning at as start,
  greatest(0, at + paused_seconds - coalesce(:now, extract(epoch from clock_timestamp())::float8)) as wait
