-- Everything of one owner is found by a key that begins with the owner, and every table names
-- its owner as a foreign key without cascade: an owner cannot be erased while a table that was
-- forgotten still holds something of theirs.
-- Times are microseconds since 1970 in UTC. `kind` says what an item is (1: a turn, by its
-- position), so that later kinds of memory need no rewriting of these tables.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE owners (
    id        INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: caches go by it
    tenant    TEXT NOT NULL,
    user      TEXT NOT NULL,
    sessions  INTEGER NOT NULL DEFAULT 0, -- session numbers given so far
    positions INTEGER NOT NULL DEFAULT 0, -- turn positions given so far
    turns     INTEGER NOT NULL DEFAULT 0, -- turns that are there
    vectors   INTEGER NOT NULL DEFAULT 0, -- vector serials given so far
    epoch     INTEGER NOT NULL DEFAULT 0, -- rises when vectors vanish or are replaced
    erasures  INTEGER NOT NULL DEFAULT 0, -- how often something was erased
    UNIQUE (tenant, user)
) STRICT;

CREATE TABLE sessions (
    owner   INTEGER NOT NULL REFERENCES owners,
    number  INTEGER NOT NULL,
    key     TEXT,
    started INTEGER NOT NULL,
    last    INTEGER NOT NULL,
    ended   INTEGER,
    turns   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX sessions_key ON sessions (owner, key) WHERE key IS NOT NULL;
CREATE INDEX sessions_open ON sessions (owner, number) WHERE ended IS NULL;

CREATE TABLE turns (
    owner    INTEGER NOT NULL REFERENCES owners,
    position INTEGER NOT NULL,
    id       TEXT NOT NULL,
    session  INTEGER NOT NULL,
    speaker  TEXT NOT NULL,
    text     TEXT NOT NULL,
    time     INTEGER NOT NULL,
    language TEXT NOT NULL,
    name     TEXT,
    PRIMARY KEY (owner, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX turns_id ON turns (owner, id);
CREATE INDEX turns_session ON turns (owner, session);

CREATE TABLE postings (
    owner  INTEGER NOT NULL REFERENCES owners,
    term   TEXT NOT NULL,
    kind   INTEGER NOT NULL,
    item   INTEGER NOT NULL,
    tf     INTEGER NOT NULL,
    length INTEGER NOT NULL, -- terms in the whole item
    PRIMARY KEY (owner, term, kind, item)
) STRICT, WITHOUT ROWID;

CREATE TABLE spaces (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    version    TEXT NOT NULL,
    dimensions INTEGER NOT NULL
) STRICT;

CREATE TABLE vectors (
    owner  INTEGER NOT NULL REFERENCES owners,
    space  INTEGER NOT NULL REFERENCES spaces,
    serial INTEGER NOT NULL, -- in order of arrival, so that a cache can load what is new
    kind   INTEGER NOT NULL,
    item   INTEGER NOT NULL,
    vector BLOB NOT NULL,    -- float32, little-endian
    PRIMARY KEY (owner, space, serial)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX vectors_item ON vectors (owner, space, kind, item);

CREATE TABLE embedded (
    owner INTEGER NOT NULL REFERENCES owners,
    space INTEGER NOT NULL REFERENCES spaces,
    upto  INTEGER NOT NULL, -- no turn up to this position lacks a vector
    PRIMARY KEY (owner, space)
) STRICT, WITHOUT ROWID;

CREATE TABLE summaries (
    owner             INTEGER NOT NULL REFERENCES owners,
    number            INTEGER NOT NULL,
    sentences         TEXT NOT NULL, -- JSON: [{"text", "about", "sources"}]
    origin            TEXT NOT NULL,
    session           INTEGER,
    time              INTEGER NOT NULL,
    language          TEXT NOT NULL,
    restored          INTEGER,
    model             TEXT NOT NULL,
    prompt            TEXT NOT NULL,
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    seconds           REAL NOT NULL,
    notes             TEXT NOT NULL, -- JSON: [text]
    PRIMARY KEY (owner, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX summaries_digest ON summaries (owner, session) WHERE origin = 'digest';

CREATE TABLE aside (
    owner    INTEGER NOT NULL REFERENCES owners,
    serial   INTEGER NOT NULL,
    session  INTEGER NOT NULL,
    text     TEXT NOT NULL,
    problems TEXT NOT NULL, -- JSON: [text]
    model    TEXT NOT NULL,
    time     INTEGER NOT NULL,
    PRIMARY KEY (owner, serial)
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    owner    INTEGER NOT NULL REFERENCES owners,
    tenant   TEXT NOT NULL,
    task     TEXT NOT NULL,
    session  INTEGER,
    state    TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    created  INTEGER NOT NULL,
    due      INTEGER NOT NULL,
    error    TEXT NOT NULL DEFAULT '',
    worker   TEXT NOT NULL DEFAULT '',
    until    INTEGER -- when the worker's hold on it ends
) STRICT;
CREATE INDEX jobs_owner ON jobs (owner);
CREATE INDEX jobs_active ON jobs (tenant, id) WHERE state IN ('waiting', 'running');
CREATE INDEX jobs_queue ON jobs (owner, task, id) WHERE state IN ('waiting', 'running');

CREATE TABLE calls (
    owner             INTEGER NOT NULL REFERENCES owners,
    serial            INTEGER NOT NULL,
    purpose           TEXT NOT NULL,
    model             TEXT NOT NULL,
    session           INTEGER,
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    seconds           REAL NOT NULL,
    time              INTEGER NOT NULL,
    failed            INTEGER NOT NULL,
    PRIMARY KEY (owner, serial)
) STRICT, WITHOUT ROWID;

-- What was said is never changed, and versions of the memory are not either. Erasure is the one
-- way around: it stands in this table for as long as its transaction lasts.
CREATE TABLE erasing (
    owner INTEGER PRIMARY KEY REFERENCES owners
) STRICT;

CREATE TRIGGER turns_stay BEFORE UPDATE ON turns
BEGIN
    SELECT RAISE(ABORT, 'turns are never changed');
END;
CREATE TRIGGER turns_are_kept BEFORE DELETE ON turns
WHEN NOT EXISTS (SELECT 1 FROM erasing WHERE owner = OLD.owner)
BEGIN
    SELECT RAISE(ABORT, 'turns are removed by erasure only');
END;
CREATE TRIGGER versions_stay BEFORE UPDATE ON summaries
WHEN NOT EXISTS (SELECT 1 FROM erasing WHERE owner = OLD.owner)
BEGIN
    SELECT RAISE(ABORT, 'versions of the memory are changed by erasure only');
END;
CREATE TRIGGER versions_are_kept BEFORE DELETE ON summaries
WHEN NOT EXISTS (SELECT 1 FROM erasing WHERE owner = OLD.owner)
BEGIN
    SELECT RAISE(ABORT, 'versions of the memory are removed by erasure only');
END;
