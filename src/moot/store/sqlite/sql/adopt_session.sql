insert into debate_sessions (/* session columns */, imported) values (/* session values */, 1) on conflict do nothing
