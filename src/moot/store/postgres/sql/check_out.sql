delete from workers where name = :name or seen_at < :now::double precision - 3600
