select m.session_id from memory_words w join memories m on m.id = w.rowid
where memory_words match :query and m.decided >= :decided and m.demonstration <= :demonstrations
  and (:token is null or :token = (select token_id from debate_sessions where id = m.session_id))
  and not (:decided and exists (
    select 1 from debate_sessions s where s.id = m.session_id and s.quarantined_at is not null
  ))
order by bm25(memory_words), m.id desc
limit :limit
