-- commit.sql for steps that leave the debate running, by far the most frequent change. It sets no indexed column, so
-- that no index is written.
update debate_sessions set
  updated_at = :now,
  open_keys = :open_keys,
  next_round = :next_round,
  next_actor = :next_actor,
  total_rounds = max(total_rounds, :total_rounds),
  last_seq = last_seq + :events,
  shown_count = shown_count + :shown,
  artifact_count = artifact_count + :artifacts,
  turn_count = turn_count + :turns,
  crashes = case when :turns > 0 then 0 else crashes end,
  tokens_in = tokens_in + :tokens_in,
  tokens_out = tokens_out + :tokens_out,
  cost_usd = cost_usd + :cost_usd
where id = :id and epoch = :epoch and status in ('running', 'stopping')
returning last_seq, status, token_id
