-- The last character of each run of Chinese, Japanese or Korean becomes a term of its own, so that
-- every character begins one and a query of a single character finds all that have it. New items
-- are recorded so; these are for the ones that are here already.

INSERT INTO postings (owner, term, kind, item, tf, length)
SELECT turns.owner, value, 1, position, count(*), max(outlines.length)
FROM turns JOIN outlines USING (owner, position) JOIN json_each(endings(text))
WHERE true GROUP BY turns.owner, position, value
ON CONFLICT DO UPDATE SET tf = tf + excluded.tf;

INSERT INTO postings (owner, term, kind, item, tf, length)
SELECT owner, value, 2, item, count(*), term_count(text)
FROM events JOIN json_each(endings(text))
WHERE superseded_by IS NULL GROUP BY owner, item, value
ON CONFLICT DO UPDATE SET tf = tf + excluded.tf;

INSERT INTO postings (owner, term, kind, item, tf, length)
SELECT owner, value, 3, item, count(*),
       term_count(topic || char(10) || summary || char(10) || compressed)
FROM memos JOIN json_each(endings(topic || char(10) || summary || char(10) || compressed))
WHERE folded_into IS NULL GROUP BY owner, item, value
ON CONFLICT DO UPDATE SET tf = tf + excluded.tf;
