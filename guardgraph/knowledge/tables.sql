-- The tables of a knowledge base, in a file of SQLite and on a server of PostgreSQL, whose types stand in braces.
--
-- A scope is a combination of tenant, source and readers, and `used` how many places its chunks ever had. A part has the
-- chunks of a scope that are read in one language; `told` says whether their texts tell it. A place is the `number`-th of
-- its block, 16,384 of which are together in a row of lengths and of each term's postings. `key` is of the text of which a
-- vector was made.

CREATE TABLE {prefix}state (
  name {text} PRIMARY KEY,
  value {text} NOT NULL
){behind};

CREATE TABLE {prefix}scopes (
  id {id},
  tenant {text} NOT NULL,
  source {text} NOT NULL,
  readers {json} NOT NULL,
  used {number} NOT NULL DEFAULT 0,
  everybody {everybody},
  UNIQUE (tenant, source, readers)
){behind};

CREATE TABLE {prefix}parts (
  id {id},
  scope {number} NOT NULL,
  language {text} NOT NULL,
  told {number} NOT NULL,
  passages {number} NOT NULL DEFAULT 0,
  words {number} NOT NULL DEFAULT 0,
  stems_once {number} NOT NULL DEFAULT 0,
  words_once {number} NOT NULL DEFAULT 0,
  beginnings_once {number} NOT NULL DEFAULT 0,
  changed {number} NOT NULL DEFAULT 0,
  UNIQUE (scope, language, told)
){behind};

CREATE TABLE {prefix}documents (
  id {id},
  tenant {text} NOT NULL,
  name {text} NOT NULL,
  collection {text} NOT NULL,
  title {text} NOT NULL,
  updated_at {text} NOT NULL,
  scope {number} NOT NULL,
  place {number} NOT NULL,
  size {number} NOT NULL,
  modified {number} NOT NULL,
  sha256 {text} NOT NULL,
  seal {bytes} NOT NULL,
  UNIQUE (tenant, name)
){behind};

CREATE TABLE {prefix}collections (
  tenant {text} NOT NULL,
  name {text} NOT NULL,
  rules {number} NOT NULL,
  PRIMARY KEY (tenant, name)
){behind};

CREATE TABLE {prefix}chunks (
  scope {number} NOT NULL,
  at {number} NOT NULL,
  document {number} NOT NULL,
  number {number} NOT NULL,
  tenant {text} NOT NULL,
  name {text} NOT NULL,
  section {text} NOT NULL,
  start {number} NOT NULL,
  stop {number} NOT NULL,
  language {text} NOT NULL,
  hash {bytes} NOT NULL,
  text {text} NOT NULL,
  key {text},
  vector {bytes},
  vector_hash {bytes},
  PRIMARY KEY (scope, at),
  UNIQUE (name, tenant)
){behind};

CREATE TABLE {prefix}lengths (
  part {number} NOT NULL,
  block {number} NOT NULL,
  data {bytes} NOT NULL,
  PRIMARY KEY (part, block)
){behind};

CREATE TABLE {prefix}postings (
  part {number} NOT NULL,
  block {number} NOT NULL,
  term {text} NOT NULL,
  total {number} NOT NULL,
  data {bytes} NOT NULL,
  PRIMARY KEY (part, term, block)
){behind};

CREATE INDEX collected ON {prefix}documents (tenant, collection);
CREATE INDEX scoped ON {prefix}documents (scope);
CREATE INDEX numbered ON {prefix}chunks (document, number);
CREATE INDEX embedded ON {prefix}chunks (tenant, key) WHERE key IS NOT NULL;
