-- A debate is changed no earlier than it is made: the index by age finds those that may be old enough.
select * from debate_sessions
where status = any(:statuses::text[]) and created_at < :before and updated_at < :before
order by created_at, id limit :limit
