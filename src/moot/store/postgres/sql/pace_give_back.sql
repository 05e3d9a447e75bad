update rate_limits set
  requests = least(:requests_at_once::float8, requests + :requests_back::float8),
  tokens = least(:tokens_at_once::float8, tokens + :tokens_back::float8)
where name = :name
