select m.session_id from memory_words w join memories m on m.id = w.rowid
where memory_words match :query and m.decided >= :decided and m.demonstration <= :demonstrations
  and (:token is null or :token = (select token_id from debate_sessions where id = m.session_id))
order by bm25(memory_words), m.id desc
limit :limit
