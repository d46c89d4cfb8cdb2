-- Which facts rest on a turn. It follows the column `sources` of the facts, and nothing else writes
-- it.

CREATE TABLE fact_sources (
    owner INTEGER NOT NULL REFERENCES owners,
    turn  TEXT NOT NULL,
    item  INTEGER NOT NULL,
    PRIMARY KEY (owner, turn, item)
) STRICT, WITHOUT ROWID;

INSERT INTO fact_sources
SELECT DISTINCT owner, value, item FROM facts, json_each(facts.sources);

CREATE TRIGGER fact_sources_added AFTER INSERT ON facts
BEGIN
    INSERT INTO fact_sources
    SELECT DISTINCT NEW.owner, value, NEW.item FROM json_each(NEW.sources);
END;
CREATE TRIGGER fact_sources_changed AFTER UPDATE OF sources ON facts
WHEN NEW.sources <> OLD.sources
BEGIN
    DELETE FROM fact_sources WHERE owner = OLD.owner AND item = OLD.item
    AND turn IN (SELECT value FROM json_each(OLD.sources));
    INSERT INTO fact_sources
    SELECT DISTINCT NEW.owner, value, NEW.item FROM json_each(NEW.sources);
END;
CREATE TRIGGER fact_sources_removed AFTER DELETE ON facts
BEGIN
    DELETE FROM fact_sources WHERE owner = OLD.owner AND item = OLD.item
    AND turn IN (SELECT value FROM json_each(OLD.sources));
END;
