select doc from memory_vocabulary where term = :word
