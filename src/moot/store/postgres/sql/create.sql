with made as (
  insert into debate_sessions (
    id, debate_id, topic, format, format_version, status, config, "cast", initiated_by, created_at, updated_at,
    total_rounds, metadata, parent_id, forked_at, turn_count, tokens_in, tokens_out, cost_usd, last_seq, guided
  ) values (
    :id, :id, :topic, :format, :format_version, :status, :config, :cast, :initiated_by, :now, :now,
    :total_rounds, :metadata, :parent_id, :forked_at, :turn_count, :tokens_in, :tokens_out, :cost_usd, :last_seq,
    :guided
  ) returning *
), said as (
  insert into debate_turns (
    id, session_id, seq, key, kind, round, phase, agent_id, agent_role, provider, model, content, raw, data, failure,
    confidence, tool_calls, test_results, reflections, metadata, tokens_in, tokens_out, tokens_cached, cost_usd,
    finish_reason, duration_ms, response_time_ms, prompt, prompt_hash, started_at, created_at
  )
  select t.id, t.session_id, t.seq, t.key, t.kind, t.round, t.phase, t.agent_id, t.agent_role, t.provider, t.model,
    t.content, t.raw, t.data, t.failure, t.confidence, t.tool_calls, t.test_results, t.reflections, t.metadata,
    t.tokens_in, t.tokens_out, t.tokens_cached, t.cost_usd, t.finish_reason, t.duration_ms, t.response_time_ms,
    t.prompt, t.prompt_hash, t.started_at, t.created_at
  from json_populate_recordset(null::debate_turns, :turns::json) as t
), shown as (
  insert into debate_events (session_id, seq, type, key, data, created_at)
  select made.id, e.n, e.type, e.key, e.data, made.created_at
  from made, json_to_recordset(:events::json) as e (n integer, type text, key text, data text)
)
select *, pg_notify('moot', 'changed ' || id || ' ' || status) from made
