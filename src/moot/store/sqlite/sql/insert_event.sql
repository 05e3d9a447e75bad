insert into debate_events (/* event columns */) values (/* event places */)
