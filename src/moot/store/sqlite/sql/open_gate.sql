insert into debate_gates (id, session_id, key, kind, question, choices, artifacts, requested_at, expires_at)
values (:id, :session_id, :key, :kind, :question, :choices, :artifacts, :now, :expires_at)
on conflict (session_id, key) do update set expires_at = excluded.expires_at where status = 'open'
