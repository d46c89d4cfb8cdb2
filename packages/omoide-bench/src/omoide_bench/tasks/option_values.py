"""What the options of tasks may be set to, so that a misspelt value ends a run before it starts.

Without it `--set audit=Yes` would run without the audit, and nobody would notice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.language import LANGUAGES
from omoide_bench.corpora.beam import KINDS as BEAM_KINDS
from omoide_bench.corpora.beam import UNANSWERABLE
from omoide_bench.data.locomo import ADVERSARIAL, CATEGORIES
from omoide_bench.friend.reading import MessageKind

if TYPE_CHECKING:
    from collections.abc import Mapping

YES_NO = ("yes", "no")
ONE_OF: Mapping[str, tuple[str, ...]] = {
    "answers": YES_NO,
    "audit": YES_NO,
    "half": ("all", "tune", "held-out"),
    "history": ("shared", "own"),
    "partner": ("person", "assistant"),
    "split": ("test", "valid"),
    "carecall language": ("ko", "en"),
    "mtbench-plus language": ("en", "ja"),
    "memorybank language": ("en", "zh"),
    "msc memory": (*YES_NO, "only"),
    "carecall memory": (*YES_NO, "only"),
    "friend memory": ("seeded", "digested"),
    "msc parts": YES_NO,
    "locomo parts": YES_NO,
    "beam by": ("reply", "app"),
    "dmr-like by": ("answer", "reply"),
    "personamem by": ("letter", "likelihood"),
    "memdaily by": ("letter", "likelihood"),
}
"""Options with one value; where tasks differ, the name of the task goes before."""
SEVERAL_OF: Mapping[str, tuple[str, ...]] = {
    "languages": tuple(LANGUAGES),
    "sets": ("locomo", "msc"),
    "friend kinds": tuple(MessageKind),
    "beam kinds": (*BEAM_KINDS, UNANSWERABLE),
    "categories": (*CATEGORIES.values(), ADVERSARIAL),
}
"""Options with one or more values, joined by commas."""
NUMBERS = frozenset(
    {
        *("dialogues", "each", "meetings", "questions", "session", "shots", "skip", "users"),
        "growth sessions",
    }
)
"""Options that are a whole number."""
CHECKED_ELSEWHERE = frozenset(
    {
        *("conversations", "memdaily kinds", "memo parts", "memo-ja parts"),
        *("msc sessions", "carecall sessions"),
    }
)
"""Options that the tasks check themselves."""


def check_value(task: str, name: str, value: str) -> None:
    """Raises `BadInput` that lists the allowed values if this is none of them."""
    for key in (f"{task} {name}", name):
        if key in NUMBERS and not value.isdecimal():
            raise BadInput(f"{name} must be a number, got {value!r}")
        if key in ONE_OF and value not in ONE_OF[key]:
            raise BadInput(f"{name} must be {' or '.join(ONE_OF[key])}, got {value!r}")
        if key in SEVERAL_OF:
            wrong = [part for part in value.split(",") if part not in SEVERAL_OF[key]]
            if wrong:
                raise BadInput(
                    f"{name} knows {', '.join(SEVERAL_OF[key])}, joined by commas; got {wrong[0]!r}"
                )
