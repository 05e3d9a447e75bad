insert into access_tokens (/* token columns */) values (/* token values */)
on conflict do nothing
