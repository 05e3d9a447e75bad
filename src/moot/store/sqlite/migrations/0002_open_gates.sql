create index debate_gates_open on debate_gates (expires_at) where status = 'open';
