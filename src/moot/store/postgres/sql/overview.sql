-- The queue's tables are created when they are first needed: `queued` says whether they exist.
select
  (select count(*) from debate_sessions
   where status in ('running', 'stopping') and owner is not null and lease_until <= :now) as leases_expired,
  (select count(*) from debate_gates g join debate_sessions s on s.id = g.session_id
   where g.status = 'open' and s.status = 'waiting') as gates_open,
  (select count(*) from debate_gates g join debate_sessions s on s.id = g.session_id
   where g.status = 'open' and s.status = 'waiting' and g.expires_at <= :now) as gates_overdue,
  to_regclass('moot_jobs') is not null as queued
