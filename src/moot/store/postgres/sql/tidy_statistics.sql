delete from moot_job_statistics where created < now() - interval '1 day'
