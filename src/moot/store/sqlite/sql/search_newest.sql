-- For words that so many have that their number says nothing: the newest, found without looking at the others.
select m.session_id from memory_words w join memories m on m.id = w.rowid
where memory_words match :query and m.decided >= :decided and m.demonstration <= :demonstrations
order by w.rowid desc
limit :limit
