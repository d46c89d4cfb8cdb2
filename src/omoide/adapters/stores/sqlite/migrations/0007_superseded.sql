-- What a fact supersedes follows the ends of the others: it is set with them, and corrected here
-- where the two disagreed.
DROP TRIGGER facts_reasons_stay;

WITH replaced AS (
    SELECT owner, ended_by AS id, json_group_array(id) AS ids
    FROM (SELECT owner, ended_by, id FROM facts WHERE ended_by <> '' ORDER BY owner, item)
    GROUP BY owner, ended_by
)
UPDATE facts SET supersedes = coalesce(
    (SELECT ids FROM replaced WHERE replaced.owner = facts.owner AND replaced.id = facts.id), '[]'
)
WHERE supersedes <> '[]' OR (owner, id) IN (SELECT owner, ended_by FROM facts WHERE ended_by <> '');

CREATE TRIGGER facts_reasons_stay BEFORE UPDATE OF reason, flags ON facts
WHEN NOT EXISTS (SELECT 1 FROM erasing WHERE owner = OLD.owner)
BEGIN
    SELECT RAISE(ABORT, 'reasons of facts are changed by erasure only');
END;
