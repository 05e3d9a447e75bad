-- Rewrites the index without the terms that were removed; until then they stay readable in its pages.
insert into memory_words (memory_words) values ('optimize')
