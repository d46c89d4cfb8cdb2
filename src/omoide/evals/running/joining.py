"""One run that was made in parts: other methods on the same sample, later or elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.evals.running.summing import tests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.evals.running.results import MethodResult, Result

SAME = ("task", "model", "embedder", "seed", "limit", "options", "cases", "data", "settings")
"""What two parts must have in common for their figures to be of one run."""


def joined(parts: Sequence[tuple[str, Result]]) -> Result:
    """One result with the methods of all parts, each compared with each. Of a method that several
    have, the later part's counts. Raises `BadInput` that says what differs where the parts are not
    of one sample and one model; prompts, versions and judges that differ stand in the notes."""
    if not parts:
        raise BadInput("nothing to join was given")
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
        for method in part.methods:
            methods.pop(method.name, None)
            methods[method.name] = method
        notes += [note for note in part.notes if note not in notes]
        notes += _differences(name, first, other, part)
    return replace(
        first,
        judge=next((part.judge for _, part in parts if part.judge != "none"), "none"),
        seconds=round(sum(part.seconds for _, part in parts), 3),
        complete=all(_whole(method, first.cases) for method in methods.values()),
        command="; ".join(dict.fromkeys(part.command for _, part in parts)),
        methods=list(methods.values()),
        tests=tests(list(methods.values()), seed=first.seed),
        duels=[duel for _, part in parts for duel in part.duels],
        notes=notes,
    )


def _whole(method: MethodResult, cases: int) -> bool:
    """Whether a method has items of every case. A part that lacked only methods is whole now."""
    return len({item.cluster for item in method.items}) >= cases


def _differences(name: str, first: Result, other: str, part: Result) -> list[str]:
    """What a reader must know of a part that was made under other circumstances."""
    if part is first:
        return []
    methods = ", ".join(method.name for method in part.methods)
    found = [f"{methods}: of {other}, begun {part.began} ({name}: {first.began})"]
    prompts = sorted(
        prompt
        for prompt in first.prompts.keys() | part.prompts.keys()
        if first.prompts.get(prompt) != part.prompts.get(prompt)
    )
    if prompts:
        found.append(f"prompts that differ between {name} and {other}: {', '.join(prompts)}")
    if part.judge != first.judge:
        found.append(f"judge of {name}: {first.judge}; of {other}: {part.judge}")
    if part.versions != first.versions:
        found.append(f"versions of packages differ between {name} and {other}")
    return found


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
