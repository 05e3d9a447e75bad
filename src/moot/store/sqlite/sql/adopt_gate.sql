insert into debate_gates (id, session_id, /* gate columns */) values (:id, :session_id, /* gate values */)
