delete from reservations where created_at < :before
