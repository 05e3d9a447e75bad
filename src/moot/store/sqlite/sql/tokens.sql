select * from access_tokens where parent is null order by name
