update debate_sessions s set lease_until = :now::double precision + :seconds::double precision
from unnest(:ids::text[], :epochs::integer[]) as r (id, epoch)
where s.id = r.id and s.epoch = r.epoch and s.owner = :owner and s.status in ('running', 'stopping')
