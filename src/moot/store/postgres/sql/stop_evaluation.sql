update evaluations set stopped_at = :at::double precision where id = :id
