insert into debate_sessions (
  id, debate_id, topic, format, format_version, status, config, "cast", initiated_by, created_at, updated_at,
  total_rounds, metadata, parent_id, forked_at, turn_count, tokens_in, tokens_out, cost_usd, last_seq, guided
) values (
  :id, :id, :topic, :format, :format_version, :status, :config, :cast, :initiated_by, :now, :now,
  :total_rounds, :metadata, :parent_id, :forked_at, :turn_count, :tokens_in, :tokens_out, :cost_usd, :last_seq, :guided
)
