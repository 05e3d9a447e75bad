insert into deleted_debates (id, deleted_at, deleted_by) values (:id, :now, :by)
on conflict do nothing
returning *, pg_notify('moot', 'changed ' || id), pg_notify(left('moot:' || id, 63), 'changed')
