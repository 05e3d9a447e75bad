-- Which writes are known to have arrived, of those whose connection was lost.
select id, last_write_seq as last_seq, status from debate_sessions
where last_write = any(:writes::text[]) and id = any(:ids::text[])
