select e.seq as event_seq, e.type as event_type, e.key as event_key, e.data as event_data,
  e.session_id as event_session_id, e.created_at as event_created_at, t.*
from debate_events e
left join debate_turns t on t.session_id = e.session_id and t.key = e.key and e.key <> ''
where e.session_id = :id and e.seq > :after
order by e.seq
limit :limit
