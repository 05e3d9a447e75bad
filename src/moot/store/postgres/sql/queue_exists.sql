select to_regclass('moot_jobs') is not null as exists
