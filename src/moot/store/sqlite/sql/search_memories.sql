select m.session_id from memory_words w join memories m on m.id = w.rowid
where memory_words match :query and m.decided >= :decided and m.demonstration <= :demonstrations
  and (:all or exists (
    select 1 from debate_sessions s
    where s.id = m.session_id and (s.token_id = :token or (:shared and s.private = 0))
  ))
  and not (:decided and exists (
    select 1 from debate_sessions s where s.id = m.session_id and s.quarantined_at is not null
  ))
order by bm25(memory_words), m.id desc
limit :limit
