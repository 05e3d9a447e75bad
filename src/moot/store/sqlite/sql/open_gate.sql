insert into debate_gates (id, session_id, /* gate columns */) values (:id, :session_id, /* gate values */)
on conflict (session_id, key) do update set expires_at = excluded.expires_at where status = 'open'
