update memory_vocabulary v set memories = v.memories - 1
from memories m where m.session_id = :id and v.word = any(tsvector_to_array(m.words))
