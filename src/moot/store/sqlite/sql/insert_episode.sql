insert into episodes (/* episode columns */) values (/* episode places */) on conflict do nothing
