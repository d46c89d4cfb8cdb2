"""The kept faults, each with the tests that should notice it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One change of the code that must not go unnoticed."""

    name: str
    about: str
    path: str
    """Under `src/omoide`."""
    old: str
    """Must occur once."""
    new: str
    tests: tuple[str, ...]


def _fault(name: str, about: str, path: str, old: str, new: str, *tests: str) -> Fault:
    full = tuple(f"tests/{test}.py" for test in tests)
    return Fault(name=name, about=about, path=path, old=old, new=new, tests=full)


_WORKER, _JOBS = "engine/worker.py", "unit/test_job_outcomes"
_TABLE = "server/test_scopes"
_BUDGET = "mechanisms/memos/compression_budget.py"
_ANSWERS = "claims/answers.py"
_SCORING = "mechanisms/events/scoring.py"
_TIMES = "language/times.py"
_DETECT = "language/detect.py"

FAULTS = (
    # Access
    _fault(
        "scope erase",
        "a write key may erase",
        "server/write_routes.py",
        "        needs=ADMIN,\n        quotes=False,",
        "        needs=WRITE,\n        quotes=False,",
        _TABLE,
    ),
    _fault(
        "scope metrics",
        "a read key may read the metrics",
        "server/probes.py",
        "needs=frozenset({Scope.ADMIN})",
        "needs=frozenset({Scope.READ})",
        _TABLE,
    ),
    _fault(
        "scope rate",
        "the rate limit is by tenant",
        "server/access.py",
        "try_acquire(key.id)",
        "try_acquire(key.tenant)",
        _TABLE,
    ),
    _fault(
        "scope expiry",
        "an idempotency key never expires",
        "server/idempotency.py",
        ">= SECONDS",
        '>= float("inf")',
        "unit/test_idempotency",
    ),
    _fault(
        "scope bytes",
        "kept responses have no bound in bytes",
        "server/idempotency.py",
        " or tenant_entries.size > MAX_TENANT_BYTES",
        "",
        "unit/test_idempotency",
    ),
    # Jobs
    _fault(
        "jobs never",
        "a job is never given up",
        _WORKER,
        "if job.attempts >= tries",
        "if job.attempts >= 10 * tries",
        _JOBS,
    ),
    _fault(
        "jobs late",
        "a job is given up one try late",
        _WORKER,
        "if job.attempts >= tries",
        "if job.attempts > tries",
        _JOBS,
    ),
    _fault(
        "jobs wait",
        "the wait does not grow",
        _WORKER,
        "2.0 ** min(job.attempts, 10)))\n            await self._requeue(job, error=error,",
        "2.0))\n            await self._requeue(job, error=error,",
        _JOBS,
    ),
    _fault(
        "jobs cancelled",
        "a cancelled job is not given back",
        _WORKER,
        "await asyncio.shield(self._requeue(job, error=job.error, delay=timedelta(0)))",
        "await asyncio.sleep(0)",
        _JOBS,
    ),
    _fault(
        "jobs lease",
        "the lease is extended after it ended",
        _WORKER,
        "self._lease.total_seconds() / 3",
        "self._lease.total_seconds() * 1.1",
        "unit/test_lease",
    ),
    _fault(
        "jobs dead",
        "a later success deletes dead jobs",
        "adapters/stores/sql/jobs.py",
        "AND older.state = 'done' AND older.id",
        "AND older.state IN ('done', 'dead') AND older.id",
        _JOBS,
    ),
    _fault(
        "jobs stale",
        "a stale version kills the digest",
        _WORKER,
        "except (ModelUnavailable, DownloadFailed, StaleVersion, StoreError)",
        "except (ModelUnavailable, DownloadFailed, StoreError)",
        _JOBS,
    ),
    # Memory
    _fault(
        "memory used",
        "recalls through the proxy do not consolidate",
        "engine/exchange.py",
        "await method.contexts.mark_used(exchange.context)",
        "pass",
        "server/test_exchange_used",
    ),
    _fault(
        "memory late",
        "what came after the deadline counts as used",
        "engine/exchange.py",
        "        if not late:  # else",
        "        if True:  # else",
        "server/test_exchange_used",
    ),
    _fault(
        "memory notes",
        "notes of a version that quote what was erased stay",
        "adapters/stores/sql/erasing.py",
        "version.notes and (affected or self._quoted_in(version.notes))",
        "False",
        "unit/test_erased_notes",
    ),
    _fault(
        "memory quoting",
        "notes that quote an erased sentence stay",
        "adapters/stores/sql/erasing.py",
        "(affected or self._quoted_in(version.notes))",
        "affected",
        "unit/test_erased_notes",
    ),
    _fault(
        "memory session",
        "a rollback has the session of the old version",
        "engine/corrections.py",
        "session=newest.session,\n            language=target.language",
        "session=target.session,\n            language=target.language",
        "unit/test_rollback",
    ),
    _fault(
        "memory language",
        "a rollback has the language of the newest version",
        "engine/corrections.py",
        "session=newest.session,\n            language=target.language",
        "session=newest.session,\n            language=newest.language",
        "unit/test_rollback",
    ),
    _fault(
        "memory tokens",
        "tokens of a call that broke off are exchanged",
        "engine/ledger.py",
        "return await model.count(prompt), await model.count(text)",
        "return await model.count(text), await model.count(prompt)",
        "server/test_exchange_used",
    ),
    _fault(
        "memory estimate",
        "estimated tokens of a call that broke off are exchanged",
        "engine/ledger.py",
        "return estimate_tokens(prompt), estimate_tokens(text) if text else 0",
        "return estimate_tokens(text) if text else 0, estimate_tokens(prompt)",
        "server/test_exchange_used",
    ),
    # Settings
    _fault(
        "settings minutes",
        "minutes are read as seconds",
        "settings.py",
        "timedelta(minutes=float(text))",
        "timedelta(seconds=float(text))",
        "unit/test_settings_read",
    ),
    _fault(
        "settings given",
        "minutes that are given by name are seconds",
        "settings.py",
        "timedelta(minutes=value)",
        "timedelta(seconds=value)",
        "unit/test_settings_read",
    ),
    _fault(
        "settings blanks",
        "blanks in a list stay",
        "settings.py",
        'tuple(part.strip() for part in text.split(",") if part.strip())',
        'tuple(text.split(","))',
        "unit/test_settings_read",
    ),
    # Compression
    _fault(
        "compress answers",
        "an answer is linked to a question of any turn before",
        _BUDGET,
        "before.asks and clause.turn == before.turn + 1",
        "before.asks",
        "unit/test_compression_rules",
    ),
    _fault(
        "compress short",
        "a long answer brings its question along",
        _BUDGET,
        "and len(content_terms(clause.text)) <= SHORT",
        "",
        "unit/test_compression_rules",
    ),
    _fault(
        "compress label",
        "each clause pays for the label of its turn",
        _BUDGET,
        "        self._opened.add(clause.turn)\n",
        "",
        "unit/test_compression_rules",
    ),
    _fault(
        "compress covered",
        "a word that the memo has counts in full again",
        _BUDGET,
        "(AGAIN if term in self._covered else 1.0)",
        "1.0",
        "unit/test_compression_rules",
    ),
    _fault(
        "compress asked",
        "a question counts as much as a statement",
        _BUDGET,
        "factor = ASKED if clause.asks else 1.0",
        "factor = 1.0",
        "unit/test_compression_rules",
    ),
    _fault(
        "compress fixed",
        "names and numbers count no more than other words",
        _BUDGET,
        "(FIXED if term in fixed or _dated(term) else 1.0)",
        "1.0",
        "unit/test_compression_rules",
    ),
    # Guards
    _fault(
        "guards lost",
        "what is mostly lost passes",
        _ANSWERS,
        "new_terms) < 0.5",
        "new_terms) < 0.1",
        "unit/test_guard_limits",
    ),
    _fault(
        "guards related",
        "a session that barely relates excuses a loss",
        _ANSWERS,
        "turn_terms) < 0.34",
        "turn_terms) < 0.1",
        "unit/test_guard_limits",
    ),
    _fault(
        "guards echo",
        "only an exact copy is an echo",
        _ANSWERS,
        "least: float = 0.9",
        "least: float = 0.999",
        "unit/test_guard_limits",
    ),
    _fault(
        "guards unsupported",
        "an answer may be unsupported up to nine tenths",
        _ANSWERS,
        "> len(cleaned) / 2",
        "> len(cleaned) * 0.9",
        "unit/test_guard_limits",
    ),
    _fault(
        "guards prompt",
        "half of a run of the prompt is not enough",
        _ANSWERS,
        "> len(runs) / 2",
        "> len(runs) * 0.95",
        "unit/test_guard_limits",
    ),
    # Ranking
    _fault(
        "rank words",
        "words count for nothing",
        "mechanisms/search/weights.py",
        "    words=0.42,",
        "    words=0.0,",
        "unit/test_ranking_rules",
    ),
    _fault(
        "rank room",
        "nothing is read beyond the best k where they do not fit",
        "mechanisms/search/recall.py",
        "k if room is None else max(k, DEPTH)",
        "k",
        "unit/test_recall",
    ),
    _fault(
        "rank future",
        "events of the future are recalled",
        "mechanisms/search/recall.py",
        "if e.time <= at and e.fact not in stated",
        "if e.fact not in stated",
        "unit/test_ranking_rules",
    ),
    _fault(
        "rank besides",
        "events that are in the prompt are recalled again",
        "mechanisms/search/recall.py",
        "if name not in wanted.besides]",
        "]",
        "unit/test_ranking_rules",
    ),
    # Forgetting
    _fault(
        "forget language",
        "vectors decide in languages for which they are not calibrated",
        _SCORING,
        "            and by_vector.holds_for(language)\n",
        "",
        "unit/test_forgetting_rules",
    ),
    _fault(
        "forget event language",
        "vectors decide for events in such a language",
        _SCORING,
        "            and by_vector.holds_for(detect_language(event.text, default=language))\n",
        "",
        "unit/test_forgetting_rules",
    ),
    _fault(
        "forget clock",
        "a clock that went back makes an event likelier than certain",
        _SCORING,
        "max(now - event.last_recalled, timedelta())",
        "now - event.last_recalled",
        "unit/test_forgetting_rules",
    ),
    _fault(
        "forget rare",
        "unknown words weigh nothing",
        _SCORING,
        "weight.get(term, most) for term in wanted",
        "weight.get(term, 0.0) for term in wanted",
        "unit/test_forgetting_rules",
    ),
    _fault(
        "forget curve",
        "the curve of a recalled event uses the wrong unit",
        _SCORING,
        "event.recalled(now, unit=knobs.spacing)",
        "event.recalled(now, unit=knobs.unit)",
        "unit/test_forgetting_rules",
    ),
    _fault(
        "forget back",
        "a recall in the past sets the event back",
        "domain/event.py",
        "last_recalled=max(now, self.last_recalled)",
        "last_recalled=now",
        "unit/test_forgetting_rules",
    ),
    # Imports, times, languages
    _fault(
        "import counts",
        "a file with fewer records than promised is restored",
        "transfer/restore.py",
        "if count != promised.get(kind, 0):",
        "if count > promised.get(kind, 0):",
        "unit/test_cut_import",
    ),
    _fault(
        "times month",
        "a month that is just ahead is last year's",
        _TIMES,
        "(said_on.month + 1, said_on.day)",
        "(said_on.month, said_on.day)",
        "unit/test_times_edges",
    ),
    _fault(
        "times last",
        "last June, in June, is this one",
        _TIMES,
        "way < 0 and month >= said_on.month",
        "way < 0 and month > said_on.month",
        "unit/test_times_edges",
    ),
    _fault(
        "times weekday",
        "this Friday is the last one",
        _TIMES,
        "ahead - 7 if way < 0 else ahead",
        "ahead - 7",
        "unit/test_times_edges",
    ),
    _fault(
        "language script",
        "the first script of equal weight wins",
        _DETECT,
        ">= most:",
        "> most * 2:",
        "unit/test_language_rules",
    ),
    _fault(
        "language absorbs",
        "Chinese lines outweigh Japanese",
        _DETECT,
        "other.detection.absorbs",
        "1",
        "unit/test_language_rules",
    ),
    # Erasure, retries, isolation
    _fault(
        "erase flight",
        "a reply in flight brings an erased user back",
        "engine/exchange.py",
        "                answers=turn.id,\n",
        "",
        "server/test_server_hostile",
    ),
    _fault(
        "erase cache",
        "another process replays erased words",
        "server/idempotency.py",
        "entry.mark is not None and entry.mark != await call.erasure_mark()",
        "False",
        "server/test_server_hostile",
    ),
    _fault(
        "erase receipt",
        "a receipt is clean whatever is left",
        "engine/erasure.py",
        "self.found += [kind] if found else []",
        "pass",
        "unit/test_receipt",
    ),
    _fault(
        "retry success",
        "failures are replayed",
        "server/idempotency.py",
        "and 200 <= response.status_code < 300",
        "",
        "server/test_server_hostile",
    ),
    _fault(
        "retry follow",
        "words between tool calls are replaced",
        "engine/exchange.py",
        " or asking.incoming.follow_up",
        "",
        "server/test_server_hostile",
    ),
    _fault(
        "retry own",
        "a retry meets its own answer",
        "engine/context.py",
        "former_replies=_replies_to(turn, session),",
        "",
        "server/test_server_hostile",
    ),
    _fault(
        "kept answers",
        "answers that quote an erased user stay in memory",
        "server/idempotency.py",
        "k[0] == user",
        "k[1] == user",
        "unit/test_idempotency",
    ),
    _fault(
        "slow body",
        "a body that comes drop by drop is waited for",
        "server/dispatch.py",
        "loop.time() + 10 * self._options.receive",
        "loop.time() + 100 * self._options.receive",
        "server/test_server_hostile",
    ),
    _fault(
        "vectors elsewhere",
        "vectors of erased items stay in an external index",
        "engine/digest.py",
        "await index.reconcile(job.owner)",
        "pass",
        "unit/test_engine",
    ),
    # Erasure on SQLite
    _fault(
        "sqlite commit",
        "a commit moves the pages of others into the file",
        "adapters/stores/sqlite/checkpoints.py",
        "        writer.set_wal_hook(self._committed)",
        "        writer.wal_autocheckpoint(100)",
        "integration/test_sqlite_checkpoints",
    ),
    _fault(
        "sqlite cached",
        "others keep pages in memory that were cleaned in the file",
        "adapters/stores/sqlite/checkpoints.py",
        '        self._connection.execute(f"PRAGMA user_version = {number}")\n',
        "",
        "integration/test_sqlite_erasure",
    ),
    _fault(
        "sqlite pages",
        "a slice of an erasure writes as many pages as it may",
        "adapters/stores/sql/slices.py",
        "PAGES / max(pages, 1)",
        "2.0",
        "integration/test_sqlite_large_erasures",
    ),
)
