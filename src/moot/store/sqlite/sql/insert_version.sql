insert into code_versions (/* version columns */) values (/* version places */) on conflict do nothing
