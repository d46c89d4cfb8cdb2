-- Facts, numbered per owner and searched as events are, under kind 4. A fact that has ended is kept
-- and not found. Sentences (in their JSON) and events may name the fact that they state.

CREATE TABLE facts (
    owner       INTEGER NOT NULL REFERENCES owners,
    item        INTEGER NOT NULL,
    id          TEXT NOT NULL,
    about       TEXT NOT NULL,
    text        TEXT NOT NULL,
    kind        TEXT NOT NULL,
    language    TEXT NOT NULL,
    session     INTEGER,
    said        INTEGER NOT NULL,
    learned     INTEGER NOT NULL,
    since       TEXT,          -- a day: 2026-01-05
    until       TEXT,          -- a day
    sources     TEXT NOT NULL, -- JSON: [turn id]
    trust       TEXT NOT NULL,
    supersedes  TEXT NOT NULL, -- JSON: [fact id]
    reason      TEXT NOT NULL,
    ended       INTEGER,
    ended_by    TEXT NOT NULL,
    end_reason  TEXT NOT NULL,
    end_sources TEXT NOT NULL, -- JSON: [turn id]
    confirmed   INTEGER,
    pinned      INTEGER NOT NULL,
    expires     INTEGER,
    tags        TEXT NOT NULL, -- JSON: [text], as are the flags
    flags       TEXT NOT NULL,
    PRIMARY KEY (owner, item)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX facts_id ON facts (owner, id);
CREATE INDEX facts_said ON facts (owner, said, item);
CREATE INDEX facts_session ON facts (owner, session);
CREATE INDEX facts_about ON facts (owner, about, said, item, ended);
CREATE INDEX facts_current ON facts (owner, said, item, learned) WHERE ended IS NULL;
CREATE INDEX facts_ended ON facts (owner, ended) WHERE ended IS NOT NULL;
CREATE INDEX facts_pinned ON facts (owner, said, item) WHERE pinned;

ALTER TABLE events ADD COLUMN fact TEXT NOT NULL DEFAULT '';

-- What a fact says is never changed, and what it says about others only by erasure.
CREATE TRIGGER facts_stay BEFORE UPDATE
OF owner, item, id, about, text, kind, language, session, said, learned, since, trust ON facts
BEGIN
    SELECT RAISE(ABORT, 'facts are never changed');
END;
CREATE TRIGGER facts_reasons_stay BEFORE UPDATE OF supersedes, reason, flags ON facts
WHEN NOT EXISTS (SELECT 1 FROM erasing WHERE owner = OLD.owner)
BEGIN
    SELECT RAISE(ABORT, 'reasons of facts are changed by erasure only');
END;
CREATE TRIGGER facts_are_kept BEFORE DELETE ON facts
WHEN NOT EXISTS (SELECT 1 FROM erasing WHERE owner = OLD.owner)
BEGIN
    SELECT RAISE(ABORT, 'facts are removed by erasure only');
END;
