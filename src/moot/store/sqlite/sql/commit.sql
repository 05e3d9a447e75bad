-- The fencing check and the change are one statement: no row means that another epoch owns the debate.
update debate_sessions set
  updated_at = :now,
  status = coalesce(:status, status),
  completed_at = case when :status = 'completed' then :now else completed_at end,
  open_keys = coalesce(:open_keys, open_keys),
  next_round = case when :open_keys is null then next_round else :next_round end,
  next_actor = case when :open_keys is null then next_actor else :next_actor end,
  total_rounds = max(total_rounds, :total_rounds),
  outcome = coalesce(:outcome, outcome),
  error = case when :status is null then error else :error end,
  last_seq = last_seq + :events,
  shown_count = shown_count + :shown,
  artifact_count = artifact_count + :artifacts,
  turn_count = turn_count + :turns,
  crashes = case when :turns > 0 then 0 else crashes end,
  tokens_in = tokens_in + :tokens_in,
  tokens_out = tokens_out + :tokens_out,
  cost_usd = cost_usd + :cost_usd,
  lost_tokens_in = lost_tokens_in + :lost_tokens_in,
  lost_tokens_out = lost_tokens_out + :lost_tokens_out,
  lost_cost_usd = lost_cost_usd + :lost_cost_usd,
  owner = case when :release then null else owner end,
  lease_until = case when :release then null else lease_until end
where id = :id and epoch = :epoch and status in ('running', 'stopping')
returning last_seq, status, token_id
