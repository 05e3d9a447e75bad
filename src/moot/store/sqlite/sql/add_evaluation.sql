insert into evaluations (id, name, plan, created_at) values (:id, :name, :plan, :now)
on conflict (id) do update set plan = excluded.plan
