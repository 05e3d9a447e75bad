update evaluations set stopped_at = :at where id = :id
