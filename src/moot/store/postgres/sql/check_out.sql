delete from workers where name = :name
