update reservations set response = :response where key = :key
