insert into lessons (/* lesson columns */) values (/* lesson places */) on conflict do nothing
