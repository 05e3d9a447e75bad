-- One that a worker has taken ends by itself: it finds no debate.
delete from moot_jobs where payload = convert_to(:id, 'UTF8') and status = 'queued'
