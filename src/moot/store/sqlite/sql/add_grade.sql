insert into grades (evaluation, item, answer, passed, examples) values (:evaluation, :item, :answer, :passed, :examples)
on conflict (evaluation, item, answer) do nothing
