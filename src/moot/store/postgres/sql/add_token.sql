insert into access_tokens (id, name, hash, scopes, parent, created_at, expires_at)
values (:id, :name, :hash, :scopes, :parent, :now, :expires_at)
on conflict do nothing
returning id
