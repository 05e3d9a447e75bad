insert into debate_sessions (
  id, topic, format, format_version, status, config, "cast", metadata, initiated_by, token_id, parent_id,
  forked_at, created_at, updated_at, last_seq, turn_count, total_rounds, guided, tokens_in, tokens_out, cost_usd
) values (
  :id, :topic, :format, :format_version, :status, :config, :cast, :metadata, :initiated_by, :token_id, :parent_id,
  :forked_at, :now, :now, :last_seq, :turn_count, :total_rounds, :guided, :tokens_in, :tokens_out, :cost_usd
)
