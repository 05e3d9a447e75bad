delete from moot_job_log where created < now() - interval '1 day'
