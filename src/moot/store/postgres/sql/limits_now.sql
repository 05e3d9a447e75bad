select name, greatest(0, l.paused_until - :now::double precision) as paused_seconds,
  greatest(0, l.at + l.paused_seconds - :now::double precision) as line_seconds
from rate_limits l order by name
