-- What completed debates decided, to be found again. `remembered` is the embedder, '' without one, null: not yet.
alter table debate_sessions add column remembered text;
create index debate_sessions_to_remember on debate_sessions (remembered, completed_at) where status = 'completed';
create table memories (
  id integer primary key,
  session_id text not null unique references debate_sessions (id),
  decided integer not null,
  demonstration integer not null,
  embedder text not null default '',
  embedding blob,
  created_at real not null
);
create index memories_by_embedder on memories (embedder);
-- The words come in the form in which they are compared, with spaces between them: the tokenizer only splits.
create virtual table memory_words using fts5 (words, content = '', tokenize = 'ascii');
create virtual table memory_vocabulary using fts5vocab (memory_words, 'row');
create table embeddings (
  embedder text not null,
  hash text not null,
  embedding blob not null,
  created_at real not null,
  primary key (embedder, hash)
);
