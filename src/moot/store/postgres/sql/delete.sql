with keys as (
  update idempotency_keys set response = null where session_id = :id
), gates as (
  delete from debate_gates where session_id = :id
), shown as (
  delete from debate_events where session_id = :id
), versions as (
  delete from code_versions where session_id = :id
), episodes as (
  delete from episodes where session_id = :id
), lessons as (
  delete from lessons where session_id = :id
), uses as (
  delete from lesson_uses where session_id = :id
), said as (
  delete from debate_turns where session_id = :id
), remembered as (
  delete from memories where session_id = :id
)
delete from debate_sessions where id = :id
