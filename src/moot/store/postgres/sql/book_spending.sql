-- `reserved` is replaced, not added to: it is everything that this driver has in flight. What an earlier driver had
-- reserved may have been spent, and it will not be reported. Once another has replaced a driver, nothing is booked for it.
insert into spending (day, session_id, token_id, epoch, cost_usd, tokens_out, reserved_usd, reserved_tokens)
values (:day, :id, :token_id, :epoch, :spent_usd, :spent_tokens, :reserved_usd, :reserved_tokens)
on conflict (day, session_id) do update set
  cost_usd = spending.cost_usd + excluded.cost_usd,
  tokens_out = spending.tokens_out + excluded.tokens_out,
  unsettled_usd = spending.unsettled_usd
    + case when spending.epoch < excluded.epoch then spending.reserved_usd else 0 end,
  unsettled_tokens = spending.unsettled_tokens
    + case when spending.epoch < excluded.epoch then spending.reserved_tokens else 0 end,
  epoch = excluded.epoch,
  reserved_usd = excluded.reserved_usd,
  reserved_tokens = excluded.reserved_tokens
where spending.epoch <= excluded.epoch
returning session_id
