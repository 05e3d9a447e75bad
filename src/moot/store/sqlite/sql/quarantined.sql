select id from debate_sessions where quarantined_at is not null
