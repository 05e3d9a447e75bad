insert into lesson_uses (/* use columns */) values (/* use places */) on conflict do nothing
