-- `reserved` is replaced, not added to: it is everything in flight of this driver. What an earlier driver has reserved
-- may have been spent, and nobody will say.
insert into spending (day, session_id, token_id, epoch, reserved_usd, reserved_tokens)
values (:day, :id, :token_id, :epoch, :reserved_usd, :reserved_tokens)
on conflict (day, session_id) do update set
  unsettled_usd = spending.unsettled_usd
    + case when spending.epoch < excluded.epoch then spending.reserved_usd else 0 end,
  unsettled_tokens = spending.unsettled_tokens
    + case when spending.epoch < excluded.epoch then spending.reserved_tokens else 0 end,
  epoch = excluded.epoch,
  reserved_usd = excluded.reserved_usd,
  reserved_tokens = excluded.reserved_tokens
where spending.epoch <= excluded.epoch
returning session_id
