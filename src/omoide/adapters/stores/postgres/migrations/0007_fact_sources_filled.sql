-- The sources of the facts that are there. The policies would hide every row from this.
ALTER TABLE facts NO FORCE ROW LEVEL SECURITY;
ALTER TABLE fact_sources NO FORCE ROW LEVEL SECURITY;

INSERT INTO fact_sources (owner, item, turn)
SELECT DISTINCT owner, item, value FROM facts, json_array_elements_text(facts.sources::json);

ALTER TABLE facts FORCE ROW LEVEL SECURITY;
ALTER TABLE fact_sources FORCE ROW LEVEL SECURITY;
