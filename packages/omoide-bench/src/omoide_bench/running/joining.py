"""Joins the parts of a run: different methods on the same sample, run separately."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide_bench.running.aggregation import tests
from omoide_bench.running.origin import differing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_bench.running.results import MethodResult, Result

SAME = ("task", "model", "embedder", "seed", "limit", "options", "cases", "data", "settings")
"""Fields that must be equal in all parts."""


def joined(parts: Sequence[tuple[str, Result]], *, across: bool = False) -> Result:
    """One result with the methods of all parts, tested against each other.

    If several parts have a method, the last one is used. Raises `BadInput` if the parts differ in
    sample or model, or, unless `across`, in the version of omoide or its prompts. Other
    differences go into the notes.
    """
    if not parts:
        raise BadInput("no results to join; give at least one file")
    name, first = parts[0]
    methods: dict[str, MethodResult] = {}
    notes: list[str] = []
    for other, part in parts:
        for field in SAME:
            if getattr(part, field) != getattr(first, field):
                raise BadInput(
                    f"{other} cannot be joined with {name}: its {field} is "
                    f"{_short(getattr(part, field))}, not {_short(getattr(first, field))}"
                )
        if not across and (why := differing(first, part)):
            raise BadInput(
                f"{other} cannot be joined with {name}: not the same omoide ({'; '.join(why)}); "
                "use --across to join them anyway"
            )
        for method in part.methods:
            methods.pop(method.name, None)
            methods[method.name] = method
        notes += [note for note in part.notes if note not in notes]
        notes += _differences(name, first, other, part)
    return replace(
        first,
        judge=next((part.judge for _, part in parts if part.judge != "none"), "none"),
        seconds=round(sum(part.seconds for _, part in parts), 3),
        complete=all(_is_complete(method, first.cases) for method in methods.values()),
        command="; ".join(dict.fromkeys(part.command for _, part in parts)),
        methods=list(methods.values()),
        tests=tests(list(methods.values()), seed=first.seed),
        duels=[duel for _, part in parts for duel in part.duels],
        notes=notes,
    )


def _is_complete(method: MethodResult, cases: int) -> bool:
    """Whether a method has items of every case. A part that only lacked methods is complete now."""
    return len({item.cluster for item in method.items}) >= cases


def _differences(name: str, first: Result, other: str, part: Result) -> list[str]:
    """Notes on what differs between a part and the first one."""
    if part is first:
        return []
    methods = ", ".join(method.name for method in part.methods)
    notes = [f"{methods}: from {other}, started {part.began} ({name}: {first.began})"]
    if why := differing(first, part):
        notes.append(f"between {name} and {other}: {'; '.join(why)}")
    if part.judge != first.judge:
        notes.append(f"judge of {name}: {first.judge}; of {other}: {part.judge}")
    if part.versions != first.versions:
        notes.append(f"package versions differ between {name} and {other}")
    return notes


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
