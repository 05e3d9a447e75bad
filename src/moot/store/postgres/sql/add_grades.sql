insert into grades (evaluation, item, answer, passed, examples)
select :evaluation, g.item, g.answer, g.passed, g.examples
from unnest(:items::text[], :answers::text[], :passed::boolean[], :examples::int[]) as g (item, answer, passed, examples)
order by g.item, g.answer
on conflict (evaluation, item, answer) do nothing
