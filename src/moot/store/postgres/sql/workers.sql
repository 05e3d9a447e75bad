select * from workers order by started_at, name
