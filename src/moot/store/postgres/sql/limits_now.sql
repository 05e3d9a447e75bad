select name, greatest(0, paused_until - :now::double precision) as paused_seconds,
  greatest(0, at + stood_still - :now::double precision) as line_seconds
from rate_limits order by name
