select * from reservations where key = :key
