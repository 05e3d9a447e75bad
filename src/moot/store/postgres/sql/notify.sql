select pg_notify(channel, payload) from unnest(:channels::text[], :payloads::text[]) as n (channel, payload)
