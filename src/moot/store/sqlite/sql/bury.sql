insert into deleted_debates (id, deleted_at, deleted_by) values (:id, :now, :by)
on conflict do nothing returning *
