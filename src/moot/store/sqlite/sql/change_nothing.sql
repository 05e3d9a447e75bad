update debate_sessions set updated_at = updated_at where false
