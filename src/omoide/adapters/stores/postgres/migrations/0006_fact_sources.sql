-- Which facts rest on a turn, as in SQLite: it follows the column `sources` of the facts. The next
-- step fills it, when it has partitions.

CREATE TABLE fact_sources (
    owner bigint NOT NULL,
    item  integer NOT NULL,
    turn  text COLLATE "C" NOT NULL,
    PRIMARY KEY (owner, turn, item)
) PARTITION BY HASH (owner);
ALTER TABLE fact_sources ALTER COLUMN turn SET STATISTICS 0;

CREATE FUNCTION follow_fact_sources() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM fact_sources WHERE owner = OLD.owner AND item = OLD.item
        AND turn IN (SELECT json_array_elements_text(OLD.sources::json));
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO fact_sources (owner, item, turn)
        SELECT DISTINCT NEW.owner, NEW.item, value FROM json_array_elements_text(NEW.sources::json);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER fact_sources_follow AFTER INSERT OR DELETE ON facts
FOR EACH ROW EXECUTE FUNCTION follow_fact_sources();
CREATE TRIGGER fact_sources_changed AFTER UPDATE OF sources ON facts
FOR EACH ROW WHEN (NEW.sources <> OLD.sources) EXECUTE FUNCTION follow_fact_sources();

ALTER TABLE fact_sources ENABLE ROW LEVEL SECURITY;
ALTER TABLE fact_sources FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON fact_sources USING (owner >> 32 = (SELECT tenant_number()));
