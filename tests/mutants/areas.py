"""The parts of the code that mutants are drawn from, each with the tests nearest to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "omoide"


@dataclass(frozen=True)
class Area:
    """Some files of `src/omoide`, and test files: patterns of both."""

    name: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]

    def files(self) -> list[Path]:
        """Its sources, but not those of an area before it."""
        before = AREAS[: AREAS.index(self)]
        taken = {file for area in before for file in _files(SOURCES, area.sources)}
        return sorted(_files(SOURCES, self.sources) - taken)

    def test_files(self) -> list[Path]:
        """Its tests."""
        return sorted(_files(ROOT / "tests", self.tests))


def _files(folder: Path, patterns: tuple[str, ...]) -> set[Path]:
    return {file for pattern in patterns for file in folder.glob(f"{pattern}.py")}


AREAS = (
    Area(
        "jobs",
        ("engine/worker", "adapters/stores/sql/jobs", "domain/jobs"),
        (
            "unit/test_job*",
            "integration/test_job_outcomes",
            "unit/test_lease",
            "integration/test_work",
            "integration/test_webhooks",
            "contract/test_workers",
            "contract/test_store",
        ),
    ),
    Area(
        "times",
        (
            "language/times",
            "language/dates",
            "language/tense",
            "language/relative",
            "language/periods",
            "language/places",
            "domain/timeline",
        ),
        ("unit/test_times*", "unit/test_timeline", "unit/test_dates*", "unit/test_human_time"),
    ),
    Area(
        "forgetting",
        ("domain/forgetting", "domain/event", "engine/forgetting", "mechanisms/events/*"),
        (
            "unit/test_forgetting*",
            "integration/test_forgetting_in_chat",
            "integration/test_lasting_events",
            "unit/test_human_*",
            "unit/test_calibration",
            "unit/test_events_*",
            "unit/test_feeling",
            "unit/test_presets",
            "integration/test_cli_plot",
            "server/test_server_looking",
        ),
    ),
    Area(
        "recall",
        ("mechanisms/search/*", "domain/recall"),
        (
            "unit/test_recall*",
            "unit/test_evidence*",
            "integration/test_evidence_slowly",
            "unit/test_ranking_rules",
            "unit/test_gate",
            "unit/test_question",
            "unit/test_nearest",
            "unit/test_fitting",
            "integration/test_outdated",
            "unit/test_support",
            "integration/test_excerpt",
            "unit/test_short_questions",
        ),
    ),
    Area(
        "waiting",
        ("adapters/spool*", "engine/waiting", "domain/waiting", "server/ending"),
        (
            "server/test_waiting*",
            "server/test_server_ending",
            "integration/test_cli_doctor",
            "integration/test_memory_never_stops_a_chat",
        ),
    ),
    Area(
        "facts",
        ("mechanisms/facts/*", "domain/fact*"),
        (
            "unit/test_facts_*",
            "integration/test_facts_*",
            "unit/test_relatives",
            "unit/test_timeline",
            "server/test_server_facts",
        ),
    ),
    Area(
        "engine",
        ("engine/*",),
        (
            "unit/test_engine*",
            "unit/test_exchange*",
            "server/test_exchange_used",
            "server/test_waiting",
            "integration/test_memory_never_stops_a_chat",
            "unit/test_amend",
            "unit/test_change",
            "unit/test_facts_*",
            "integration/test_facts_*",
            "unit/test_receipt",
            "unit/test_rollback",
            "unit/test_replies",
            "server/test_memory_folder",
            "unit/test_messages",
            "unit/test_methods",
            "unit/test_open*",
            "unit/test_facade",
            "unit/test_reply_checks",
            "server/test_server_recording",
            "server/test_server_taking_back",
            "integration/test_webhooks",
            "unit/test_human_recall",
        ),
    ),
    Area(
        "stores",
        ("adapters/stores/sql/*", "adapters/stores/sqlite/*", "documents/*"),
        (
            "contract/test_store",
            "contract/test_sql_*",
            "integration/test_sqlite_*",
            "integration/test_evidence_sqlite",
            "unit/test_erased_notes",
            "unit/test_replaced_turns",
            "unit/test_facts_kept",
        ),
    ),
    Area(
        "server",
        ("server/*", "server/protocols/*"),
        (
            "server/test_server_*",
            "unit/test_idempotency",
            "server/test_scopes",
            "unit/test_limits",
            "unit/test_answer_parser",
            "unit/test_embedded_tools",
            "unit/test_settings_read",
            "contract/test_keys",
            "integration/test_server_socket",
            "unit/test_addressing",
            "server/test_waiting",
            "integration/clients/test_*",
            "integration/test_client",
            "integration/test_mcp",
            "integration/test_server_isolation",
        ),
    ),
)
