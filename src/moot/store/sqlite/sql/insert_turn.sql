insert into debate_turns (
  id, session_id, seq, key, kind, round, phase, agent_id, agent_role, provider, model, content, raw, data, failure,
  confidence, tool_calls, test_results, reflections, metadata, tokens_in, tokens_out, tokens_cached, cost_usd,
  finish_reason, duration_ms, response_time_ms, prompt, prompt_hash, started_at, created_at
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
