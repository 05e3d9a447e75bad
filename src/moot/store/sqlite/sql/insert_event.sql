insert into debate_events (session_id, seq, type, key, data, created_at) values (?, ?, ?, ?, ?, ?)
