select status, count(*) from debate_sessions group by status order by status
