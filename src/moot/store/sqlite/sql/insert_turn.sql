insert into debate_turns (/* turn columns */) values (/* turn places */)
