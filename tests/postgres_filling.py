"""Many turns of many users in a PostgreSQL database, made by the server itself.

Words are drawn so that few are frequent, twelve a turn, in sessions of twenty turns, each digested,
with a fact for each turn, an event for every fifth, and vectors of random numbers.
"""

from __future__ import annotations

import random
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import psycopg

from omoide.language import terms

if TYPE_CHECKING:
    from omoide.ports import Space

VOCABULARY = 20_000
WORDS = 12
SESSION = 20
TENANTS = 10

FILL = """
INSERT INTO owners (tenant, "user") SELECT format('t%s', u %% {tenants}), format('u%s', u)
FROM generate_series({first}, {last}) AS u;
CREATE TEMP TABLE said ON COMMIT DROP AS
SELECT id AS owner, position, i, word, term FROM owners
CROSS JOIN generate_series(1, {turns}) AS position CROSS JOIN generate_series(1, {words}) AS i
JOIN vocabulary ON n = abs(hashint8(id * 1000003 + position * 101 + i))::bigint % 1000
    * (abs(hashint8(id + position * 7919 + i * 104729))::bigint % {rare}) / 1000
WHERE substr("user", 2)::int BETWEEN {first} AND {last};
INSERT INTO turns (owner, position, id, session, speaker, text, time, language)
SELECT owner, position, format('turn-%s-%s', owner, position), (position - 1) / {session} + 1,
    CASE position % 2 WHEN 1 THEN 'user' ELSE 'assistant' END, string_agg(word, ' ' ORDER BY i),
    1704067200000000 + position * 60000000::bigint, 'en'
FROM said GROUP BY owner, position;
INSERT INTO outlines (owner, position, length, telling, named)
SELECT owner, position, count(*), 0.5, '' FROM said GROUP BY owner, position;
INSERT INTO postings (owner, term, kind, item, tf, length)
SELECT owner, term, 1, position, count(*), {words} FROM said GROUP BY owner, term, position;
INSERT INTO sessions (owner, number, key, started, last, ended, turns)
SELECT owner, session, format('key-%s', session), min(time), max(time), max(time), count(*)
FROM turns WHERE owner IN (SELECT DISTINCT owner FROM said) GROUP BY owner, session;
INSERT INTO counts (owner, kind, given, found)
SELECT DISTINCT owner, 1, {turns}, {turns} FROM said;
INSERT INTO summaries (owner, number, sentences, origin, session, time, language, model, prompt,
    prompt_tokens, completion_tokens, seconds, notes)
SELECT owner, number, '[{{"text": "The user talks.", "about": "user", "sources": []}}]', 'digest',
    number, ended, 'en', 'm', 'p', 1, 1, 1, '[]' FROM sessions
WHERE owner IN (SELECT DISTINCT owner FROM said);
INSERT INTO events (owner, item, id, session, text, time, sources, topics, keywords, participants,
    feeling)
SELECT owner, position / 5, format('event-%s', position / 5), (position - 1) / {session} + 1,
    'it happened', 1704067200000000, '[]', '[]', '[]', '[]', 0
FROM said WHERE position % 5 = 0 AND i = 1;
INSERT INTO recalls (owner, item, recalls, consolidation, last_recalled)
SELECT owner, item, 0, 1, time FROM events WHERE owner IN (SELECT DISTINCT owner FROM said);
INSERT INTO facts (owner, item, id, about, text, kind, language, session, said, learned, sources,
    trust, supersedes, reason, ended, ended_by, end_reason, end_sources, pinned, tags, flags)
SELECT owner, position, format('fact-%s', position),
    CASE position % 4 WHEN 0 THEN 'Bob' ELSE 'user' END, 'it holds', 'state', 'en',
    (position - 1) / {session} + 1, 1704067200000000 + position, 1704067200000000 + position, '[]',
    'user', '[]', '', CASE position % 3 WHEN 0 THEN 1704067200000000 + position + 1 END, '', '',
    '[]', position % 50 = 1, '[]', '[]'
FROM said WHERE i = 1;
INSERT INTO counts (owner, kind, given, found)
SELECT DISTINCT owner, 4, {turns}, 0 FROM said;
INSERT INTO calls (owner, serial, purpose, model, prompt_tokens, completion_tokens, seconds, time,
    failed)
SELECT owner, number, 'digest', 'm', 1, 1, 1, ended, false FROM sessions
WHERE owner IN (SELECT DISTINCT owner FROM said);
INSERT INTO jobs (owner, tenant, task, session, state, created, due)
SELECT id, tenant, 'embed', NULL, 'done', 0, 0 FROM owners
WHERE id IN (SELECT DISTINCT owner FROM said);
UPDATE owners SET sessions = {turns} / {session}, vectors = {turns}
WHERE id IN (SELECT DISTINCT owner FROM said)
"""
VECTORS = """
INSERT INTO vectors (owner, space, kind, item, serial, vector)
SELECT owner, {space}, 1, position, position,
    (SELECT array_agg(random() - 0.5 + (g + turns.position) * 0)
        FROM generate_series(1, {dimensions}) AS g)::vector
FROM turns JOIN owners ON owners.id = owner WHERE substr("user", 2)::int BETWEEN {first} AND {last};
INSERT INTO embedded (owner, space, kind, upto)
SELECT id, {space}, 1, {turns} FROM owners WHERE substr("user", 2)::int BETWEEN {first} AND {last}
"""


def words_made(count: int) -> list[str]:
    """Words that are their own index terms."""
    dice = random.Random(1)
    made: dict[str, None] = {}
    while len(made) < count:
        word = "".join(dice.choice("bdfgklmnprtvz") + dice.choice("aiou") for _ in range(3))
        if terms(word) == [word]:
            made[word] = None
    return list(made)


def fill(url: str, *, turns: int, users: int, space: Space) -> None:
    """Let the server make the turns of all users, some users at a time."""
    each = turns // users
    batch = max(1, 20_000 // each)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        for way in ("seqscan", "hashjoin", "mergejoin"):
            # Each batch finds the rows of its own users by an index, however many there are by now.
            connection.execute(f"SET enable_{way} = off".encode())
        connection.execute("CREATE TEMP TABLE vocabulary (n int PRIMARY KEY, word text, term text)")
        with connection.cursor() as cursor, cursor.copy("COPY vocabulary FROM STDIN") as copy:
            for number, word in enumerate(words_made(VOCABULARY)):
                copy.write_row((number, word, word))
        [(number,)] = connection.execute(
            "INSERT INTO spaces (name, version, dimensions) VALUES (%s, %s, %s) RETURNING id",
            (space.name, space.version, space.dimensions),
        )
        began = time.monotonic()
        for first in range(0, users, batch):
            values = {
                "tenants": TENANTS,
                "first": first,
                "last": min(first + batch, users) - 1,
                "turns": each,
                "words": WORDS,
                "session": SESSION,
                "rare": VOCABULARY,
                "space": number,
                "dimensions": space.dimensions,
            }
            with connection.transaction():
                connection.execute(FILL.replace("%%", "%").format(**values).encode())
            with connection.transaction():
                connection.execute(VECTORS.format(**values).encode())
            done = min(first + batch, users)
            if first // batch % 10 == 0 or done == users:
                rate = done * each / (time.monotonic() - began)
                print(f"  {done * each:>12,} turns, {rate:,.0f} a second", flush=True)
        connection.execute("VACUUM ANALYZE")
        with suppress(psycopg.errors.InsufficientPrivilege):
            connection.execute("CHECKPOINT")  # what comes after is not to wait for this
