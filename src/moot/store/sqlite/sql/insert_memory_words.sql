insert into memory_words (rowid, words) values (:memory, :words)
