select m.session_id from memories m
where m.words @@ :query::text::tsquery and m.decided >= :decided and m.demonstration <= :demonstrations
  and (:all::boolean or exists (
    select 1 from debate_sessions s
    where s.id = m.session_id and (s.token_id = :token::text or (:shared::boolean and s.private = 0))
  ))
  and not (:decided::boolean and exists (
    select 1 from debate_sessions s where s.id = m.session_id and s.quarantined_at is not null
  ))
order by (
  select sum(w.weight) from unnest(:words::text[], :weights::double precision[]) as w (word, weight)
  where m.words @@ w.word::tsquery
) desc, m.id desc
limit :limit
