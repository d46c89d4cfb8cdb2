"""Metrics in the Prometheus text format. They contain no messages, users or tenants."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from omoide.domain import ModelCall

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Upper bounds of the histogram buckets, in seconds."""


@dataclass
class Histogram:
    """A cumulative histogram of durations."""

    counts: list[int] = field(default_factory=lambda: [0] * len(BUCKETS))
    total: float = 0.0
    number: int = 0

    def observe(self, seconds: float) -> None:
        """Count one duration."""
        for i, bound in enumerate(BUCKETS):
            if seconds <= bound:
                self.counts[i] += 1
        self.total += seconds
        self.number += 1

    def lines(self, name: str) -> Iterable[str]:
        """Lines in the text format."""
        for bound, count in zip(BUCKETS, self.counts, strict=True):
            yield f'{name}_bucket{{le="{bound:g}"}} {count}'
        yield f'{name}_bucket{{le="+Inf"}} {self.number}'
        yield f"{name}_sum {self.total:.6f}"
        yield f"{name}_count {self.number}"


METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
"""Methods that are counted by name; a client may make up others, each of which would be kept."""


class Metrics:
    """What the server counts."""

    def __init__(self) -> None:
        self.requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self.tokens: dict[tuple[str, str], int] = defaultdict(int)
        self.calls: dict[tuple[str, str], int] = defaultdict(int)
        self.degraded: dict[str, int] = defaultdict(int)
        self.recall = Histogram()
        self.streams = 0
        """Replies being streamed now."""

    def request(self, method: str, route: str, status: int) -> None:
        """Count an answered request."""
        self.requests[method if method in METHODS else "other", route, status] += 1

    def call(self, call: ModelCall) -> None:
        """Count a model call and its tokens."""
        self.tokens[call.purpose.value, "prompt"] += call.prompt_tokens
        self.tokens[call.purpose.value, "completion"] += call.completion_tokens
        self.calls[call.purpose.value, "failed" if call.failed else "ok"] += 1

    def text(self, jobs: Mapping[str, int], *, waiting: int = 0, refused: int = 0) -> str:
        """All metrics, with the number of jobs in each state, of exchanges that wait to be stored,
        and of those that could not be stored."""
        lines = [
            *_head("omoide_requests_total", "counter", "Requests by route and status."),
            *(
                f'omoide_requests_total{{method="{method}",route="{route}",status="{status}"}} {n}'
                for (method, route, status), n in sorted(self.requests.items())
            ),
            *_head("omoide_recall_seconds", "histogram", "Time to gather memory for a prompt."),
            *self.recall.lines("omoide_recall_seconds"),
            *_head("omoide_model_tokens_total", "counter", "Tokens by purpose and direction."),
            *(
                f'omoide_model_tokens_total{{purpose="{purpose}",direction="{way}"}} {n}'
                for (purpose, way), n in sorted(self.tokens.items())
            ),
            *_head("omoide_model_calls_total", "counter", "Model calls by purpose and outcome."),
            *(
                f'omoide_model_calls_total{{purpose="{purpose}",outcome="{outcome}"}} {n}'
                for (purpose, outcome), n in sorted(self.calls.items())
            ),
            *_head("omoide_degraded_total", "counter", "Chats that continued without memory."),
            *(
                f'omoide_degraded_total{{reason="{reason}"}} {n}'
                for reason, n in sorted(self.degraded.items())
            ),
            *_head("omoide_streams", "gauge", "Replies being streamed now."),
            f"omoide_streams {self.streams}",
            *_head("omoide_waiting", "gauge", "Exchanges that wait to be stored."),
            f"omoide_waiting {waiting}",
            *_head("omoide_refused", "gauge", "Exchanges set aside that could not be stored."),
            f"omoide_refused {refused}",
            *_head(
                "omoide_jobs", "gauge", "Unfinished jobs by state; behind counts those past due."
            ),
            *(f'omoide_jobs{{state="{state}"}} {n}' for state, n in jobs.items()),
        ]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, about: str) -> tuple[str, str]:
    return f"# HELP {name} {about}", f"# TYPE {name} {kind}"
