-- Facts, as in SQLite: numbered per owner and searched as events are, under kind 4.

CREATE TABLE facts (
    owner       bigint NOT NULL,
    said        bigint NOT NULL,
    learned     bigint NOT NULL,
    ended       bigint,
    confirmed   bigint,
    expires     bigint,
    item        integer NOT NULL,
    session     integer,
    pinned      boolean NOT NULL,
    id          text COLLATE "C" NOT NULL,
    about       text COLLATE "C" NOT NULL,
    text        text NOT NULL,
    kind        text COLLATE "C" NOT NULL,
    language    text NOT NULL,
    since       text,
    until       text,
    sources     text NOT NULL,
    trust       text NOT NULL,
    supersedes  text NOT NULL,
    reason      text NOT NULL,
    ended_by    text COLLATE "C" NOT NULL,
    end_reason  text NOT NULL,
    end_sources text NOT NULL,
    tags        text NOT NULL,
    flags       text NOT NULL,
    PRIMARY KEY (owner, item)
) PARTITION BY HASH (owner);
CREATE UNIQUE INDEX facts_id ON facts (owner, id);
CREATE INDEX facts_said ON facts (owner, said, item);
CREATE INDEX facts_session ON facts (owner, session);
CREATE INDEX facts_about ON facts (owner, about, said, item, ended);
CREATE INDEX facts_current ON facts (owner, said, item, learned) WHERE ended IS NULL;
CREATE INDEX facts_ended ON facts (owner, ended) WHERE ended IS NOT NULL;
CREATE INDEX facts_pinned ON facts (owner, said, item) WHERE pinned;

ALTER TABLE events ADD COLUMN fact text COLLATE "C" NOT NULL DEFAULT '';

CREATE TRIGGER facts_stay BEFORE UPDATE
OF owner, item, id, about, text, kind, language, session, said, learned, since, trust ON facts
FOR EACH ROW EXECUTE FUNCTION stay('facts');
CREATE TRIGGER facts_reasons_stay BEFORE UPDATE OF supersedes, reason, flags ON facts
FOR EACH ROW EXECUTE FUNCTION stay_unless_erased('reasons of facts');
CREATE TRIGGER facts_are_kept BEFORE DELETE ON facts
FOR EACH ROW EXECUTE FUNCTION stay_unless_erased('facts');

ALTER TABLE facts ENABLE ROW LEVEL SECURITY;
ALTER TABLE facts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON facts USING (owner >> 32 = (SELECT tenant_number()));

-- No samples of what users say (see 0002).
ALTER TABLE facts ALTER COLUMN id SET STATISTICS 0, ALTER COLUMN about SET STATISTICS 0,
    ALTER COLUMN text SET STATISTICS 0, ALTER COLUMN sources SET STATISTICS 0,
    ALTER COLUMN supersedes SET STATISTICS 0, ALTER COLUMN reason SET STATISTICS 0,
    ALTER COLUMN ended_by SET STATISTICS 0, ALTER COLUMN end_reason SET STATISTICS 0,
    ALTER COLUMN end_sources SET STATISTICS 0, ALTER COLUMN tags SET STATISTICS 0,
    ALTER COLUMN flags SET STATISTICS 0;
ALTER TABLE events ALTER COLUMN fact SET STATISTICS 0;
