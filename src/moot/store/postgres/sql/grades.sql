select item, answer, passed, examples from grades where evaluation = :evaluation
order by item, answer
