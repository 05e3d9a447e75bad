insert into debate_sessions (/* session columns */) values (/* session values */)
