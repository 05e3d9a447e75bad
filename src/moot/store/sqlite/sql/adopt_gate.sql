insert into debate_gates (id, session_id, /* gate columns */) values (?, ?, /* gate values */)
