-- Of the writes whose connection was lost before the answer: those that were made.
select id, last_write_seq as last_seq, status from debate_sessions
where last_write = any(:writes::text[]) and id = any(:ids::text[])
