alter table debate_sessions add column guided integer not null default 0;
