select * from access_tokens where parent is null and debate_id is null order by name
