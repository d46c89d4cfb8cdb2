-- What recall weighs of a turn beside its words. Read from the text when the turn is recorded,
-- since that takes longer than all the rest of a search; for the turns that are here already, now.

CREATE TABLE outlines (
    owner    INTEGER NOT NULL REFERENCES owners,
    position INTEGER NOT NULL,
    length   INTEGER NOT NULL, -- terms
    telling  REAL NOT NULL,
    named    TEXT NOT NULL,    -- days it speaks of: first, last, first, last, …
    PRIMARY KEY (owner, position)
) STRICT, WITHOUT ROWID;
INSERT INTO outlines (owner, position, length, telling, named)
SELECT owner, position, term_count(text), telling(text), days_named(text, time) FROM turns;
