-- First in, first out: of one owner's episodes, the newest stay. Imported ones had other owners: they stay, and push
-- none out.
delete from episodes where id in (
  select e.id from episodes e join debate_sessions s on s.id = e.session_id where s.token_id = :token and s.imported = 0
  order by e.created_at desc, e.session_id desc, e.number desc limit -1 offset :keep
)
