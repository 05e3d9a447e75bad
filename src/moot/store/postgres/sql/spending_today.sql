-- Without what the driver `:epoch` of the debate `:id` has reserved so far, which it is about to replace.
select
  coalesce(sum(cost_usd), 0) as cost_usd,
  coalesce(sum(tokens_out), 0) as tokens,
  coalesce(sum(reserved_usd), 0) as reserved_usd,
  coalesce(sum(reserved_tokens), 0) as reserved_tokens,
  coalesce(sum(case when token_id = :token_id then cost_usd end), 0) as caller_cost_usd,
  coalesce(sum(case when token_id = :token_id then tokens_out end), 0) as caller_tokens,
  coalesce(sum(case when token_id = :token_id then reserved_usd end), 0) as caller_reserved_usd,
  coalesce(sum(case when token_id = :token_id then reserved_tokens end), 0) as caller_reserved_tokens
from (
  select token_id, cost_usd, tokens_out,
    unsettled_usd + case when session_id = :id and epoch = :epoch then 0 else reserved_usd end as reserved_usd,
    unsettled_tokens + case when session_id = :id and epoch = :epoch then 0 else reserved_tokens end
      as reserved_tokens
  from spending where day = :day
) as today
