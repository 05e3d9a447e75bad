delete from lessons where id = :id returning id
