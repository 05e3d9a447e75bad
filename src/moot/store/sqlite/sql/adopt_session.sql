insert into debate_sessions (/* session columns */) values (/* session values */) on conflict do nothing
