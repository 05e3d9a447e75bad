-- Writes to the log of the server, which a full disk refuses, and to no table.
select pg_logical_emit_message(true, 'moot', 'ready')
