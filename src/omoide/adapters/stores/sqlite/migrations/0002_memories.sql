-- Events, memos and notes. Events and memos are numbered per owner, as turns are by position, and
-- share their postings and vectors under a `kind` of their own (1: turn, 2: event, 3: memo).
-- What was counted for turns alone is counted for each kind now.

CREATE TABLE counts (
    owner INTEGER NOT NULL REFERENCES owners,
    kind  INTEGER NOT NULL,
    given INTEGER NOT NULL DEFAULT 0, -- item numbers given so far; none is given twice
    found INTEGER NOT NULL DEFAULT 0, -- items that a search can find
    epoch INTEGER NOT NULL DEFAULT 0, -- rises when vectors vanish or are replaced
    PRIMARY KEY (owner, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO counts (owner, kind, given, found, epoch)
SELECT id, 1, positions, turns, epoch FROM owners;
ALTER TABLE owners DROP COLUMN positions;
ALTER TABLE owners DROP COLUMN turns;
ALTER TABLE owners DROP COLUMN epoch;

ALTER TABLE embedded RENAME TO embedded_turns;
CREATE TABLE embedded (
    owner INTEGER NOT NULL REFERENCES owners,
    space INTEGER NOT NULL REFERENCES spaces,
    kind  INTEGER NOT NULL,
    upto  INTEGER NOT NULL, -- no item up to this one lacks a vector
    PRIMARY KEY (owner, space, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO embedded (owner, space, kind, upto) SELECT owner, space, 1, upto FROM embedded_turns;
DROP TABLE embedded_turns;

CREATE TABLE events (
    owner         INTEGER NOT NULL REFERENCES owners,
    item          INTEGER NOT NULL,
    id            TEXT NOT NULL,
    session       INTEGER NOT NULL,
    text          TEXT NOT NULL,
    time          INTEGER NOT NULL,
    sources       TEXT NOT NULL, -- JSON: [turn id], as are the three below: [text]
    topics        TEXT NOT NULL,
    keywords      TEXT NOT NULL,
    participants  TEXT NOT NULL,
    feeling       REAL NOT NULL,
    superseded_by TEXT,
    PRIMARY KEY (owner, item)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX events_id ON events (owner, id);

-- Apart from the texts: what changes with each recall fits many to a page, so that writing down a
-- recall of ten events rewrites a page or two and not ten.
CREATE TABLE recalls (
    owner         INTEGER NOT NULL REFERENCES owners,
    item          INTEGER NOT NULL,
    recalls       INTEGER NOT NULL,
    consolidation REAL NOT NULL,
    last_recalled INTEGER NOT NULL,
    PRIMARY KEY (owner, item)
) STRICT, WITHOUT ROWID;

CREATE TABLE memos (
    owner       INTEGER NOT NULL REFERENCES owners,
    item        INTEGER NOT NULL,
    id          TEXT NOT NULL,
    session     INTEGER NOT NULL,
    topic       TEXT NOT NULL,
    summary     TEXT NOT NULL,
    sources     TEXT NOT NULL, -- JSON: [turn id]
    time        INTEGER NOT NULL,
    compressed  TEXT NOT NULL,
    method      TEXT NOT NULL,
    whole       INTEGER NOT NULL,
    folded_into TEXT,
    PRIMARY KEY (owner, item)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX memos_id ON memos (owner, id);

CREATE TABLE notes (
    owner   INTEGER NOT NULL REFERENCES owners,
    kind    TEXT NOT NULL,
    key     TEXT NOT NULL,
    text    TEXT NOT NULL,
    time    INTEGER NOT NULL,
    session INTEGER,
    PRIMARY KEY (owner, kind, key)
) STRICT, WITHOUT ROWID;

-- What an event or a memo says is never changed; only what became of it is.
CREATE TRIGGER events_stay BEFORE UPDATE
OF owner, item, id, session, text, time, sources, topics, keywords, participants, feeling ON events
BEGIN
    SELECT RAISE(ABORT, 'events are never changed');
END;
CREATE TRIGGER events_are_kept BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM erasing WHERE owner = OLD.owner)
BEGIN
    SELECT RAISE(ABORT, 'events are removed by erasure only');
END;
CREATE TRIGGER memos_stay BEFORE UPDATE
OF owner, item, id, session, topic, summary, sources, time, compressed, method, whole ON memos
BEGIN
    SELECT RAISE(ABORT, 'memos are never changed');
END;
CREATE TRIGGER memos_are_kept BEFORE DELETE ON memos
WHEN NOT EXISTS (SELECT 1 FROM erasing WHERE owner = OLD.owner)
BEGIN
    SELECT RAISE(ABORT, 'memos are removed by erasure only');
END;
