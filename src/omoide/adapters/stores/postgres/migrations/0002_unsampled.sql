-- ANALYZE keeps samples of what stands in a column, in a catalogue that an erasure cannot reach. No
-- samples are taken of what users say or of how they are called: every such column is found by an
-- index whose first part is the owner, so that plans do not need them. Partitions that are made
-- later take this over from their table.

ALTER TABLE owners ALTER COLUMN "user" SET STATISTICS 0;
ALTER TABLE sessions ALTER COLUMN key SET STATISTICS 0;
ALTER TABLE turns ALTER COLUMN id SET STATISTICS 0, ALTER COLUMN text SET STATISTICS 0,
    ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE outlines ALTER COLUMN named SET STATISTICS 0;
ALTER TABLE postings ALTER COLUMN term SET STATISTICS 0;
ALTER TABLE vectors ALTER COLUMN vector SET STATISTICS 0;
ALTER TABLE summaries ALTER COLUMN sentences SET STATISTICS 0, ALTER COLUMN notes SET STATISTICS 0;
ALTER TABLE aside ALTER COLUMN text SET STATISTICS 0, ALTER COLUMN problems SET STATISTICS 0;
ALTER TABLE jobs ALTER COLUMN error SET STATISTICS 0;
ALTER TABLE events ALTER COLUMN id SET STATISTICS 0, ALTER COLUMN text SET STATISTICS 0,
    ALTER COLUMN sources SET STATISTICS 0, ALTER COLUMN topics SET STATISTICS 0,
    ALTER COLUMN keywords SET STATISTICS 0, ALTER COLUMN participants SET STATISTICS 0,
    ALTER COLUMN superseded_by SET STATISTICS 0;
ALTER TABLE memos ALTER COLUMN id SET STATISTICS 0, ALTER COLUMN topic SET STATISTICS 0,
    ALTER COLUMN summary SET STATISTICS 0, ALTER COLUMN sources SET STATISTICS 0,
    ALTER COLUMN compressed SET STATISTICS 0, ALTER COLUMN folded_into SET STATISTICS 0;
ALTER TABLE notes ALTER COLUMN key SET STATISTICS 0, ALTER COLUMN text SET STATISTICS 0;

-- Samples that are there already stay where they are. From PostgreSQL 18 on the owner of a table may
-- remove them; before that a superuser has to: see docs/postgres.md.
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 180000 THEN
        PERFORM pg_clear_attribute_stats(current_schema(), relname, attname, inherited)
        FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
        CROSS JOIN (VALUES (false), (true)) AS kinds (inherited)
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
        AND attnum > 0 AND attstattarget = 0;
    END IF;
END $$;
