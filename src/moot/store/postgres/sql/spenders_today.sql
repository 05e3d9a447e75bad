select token_id, sum(cost_usd) as cost_usd, sum(tokens_out) as tokens, sum(reserved_usd + unsettled_usd) as reserved_usd,
  sum(reserved_tokens + unsettled_tokens) as reserved_tokens
from spending where day = :day
group by token_id
order by cost_usd desc, tokens desc
