-- The part of commit.sql for commits with artifacts: others are spared it.
), versions as (
  insert into code_versions (/* version columns */)
  select /* version columns */ from json_populate_recordset(null::code_versions, :versions::json)
  where session_id in (select id from changed)
  on conflict do nothing
), episodes as (
  insert into episodes (/* episode columns */)
  select /* episode columns */ from json_populate_recordset(null::episodes, :episodes::json)
  where session_id in (select id from changed)
  on conflict do nothing
), lessons as (
  insert into lessons (/* lesson columns */)
  select /* lesson columns */ from json_populate_recordset(null::lessons, :lessons::json)
  where session_id in (select id from changed)
  on conflict do nothing
), uses as (
  insert into lesson_uses (/* use columns */)
  select /* use columns */ from json_populate_recordset(null::lesson_uses, :uses::json)
  where session_id in (select id from changed)
  on conflict do nothing
