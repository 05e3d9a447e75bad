select greatest(
  0, greatest(:start::float8 + paused_seconds, paused_until)
    - coalesce(:now::float8, extract(epoch from clock_timestamp())::float8)
) as wait
from rate_limits where name = :name
