"""Replies of two methods side by side before a judge, in both orders: win rates and position bias.

Before the verdicts are believed, the judge is shown true replies against those of other dialogues;
how often it does not prefer the true one stands in the result's notes.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from omoide.accounts import complete
from omoide.errors import BadInput
from omoide.evals.judges import Case, Pair, PairJudge, calibrate_pairs, pair_report
from omoide.evals.running.asked import Asked
from omoide.evals.running.results import Duel
from omoide.evals.tasks.base import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.evals.running.asked import Line
    from omoide.evals.running.items import Item
    from omoide.evals.running.runner import Done

CALIBRATED = 50
"""True replies that the judge is tried on."""


async def duels(
    done: Sequence[tuple[str, Done]], *, one: str, judge: Line, seed: int, most: int = 200
) -> tuple[list[Duel], list[str]]:
    """The method `one` against every other, on the same items; and what the judge is worth."""
    texts = {name: {item.id: item for item in run.items if "reply" in item.texts}
             for name, run in done}  # fmt: skip
    if one not in texts:
        raise BadInput(f"{one} is not among the methods that were run: {', '.join(texts)}")
    asked = Asked(judge)
    judging = PairJudge(ask=lambda request: complete(asked, request))
    found = []
    for name, items in texts.items():
        shared = Sample(limit=most, seed=seed).draw([i for i in texts[one] if i in items])
        if name == one or not shared:
            continue
        verdicts = await asyncio.gather(
            *(judging.compare(_pair(texts[one][i], items[i])) for i in shared)
        )
        report = pair_report(verdicts)
        found.append(
            Duel(
                one=one,
                other=name,
                wins=report.wins,
                losses=report.losses,
                ties=report.ties,
                neither=report.neither,
                unscored=report.unscored,
                consistent=report.consistent,
                position_bias=report.position_bias,
            )
        )
    return found, await _worth(judging, list(texts[one].values()), asked.name, seed)


def _pair(ours: Item, theirs: Item) -> Pair:
    return Pair(
        known=ours.texts.get("known", ""),
        dialogue=ours.texts.get("dialogue", ""),
        ours=ours.texts["reply"],
        theirs=theirs.texts["reply"],
    )


async def _worth(judge: PairJudge, items: Sequence[Item], name: str, seed: int) -> list[str]:
    true = [
        Case(
            known=item.texts.get("known", ""),
            dialogue=item.texts.get("dialogue", ""),
            reply=item.texts["gold"],
        )
        for item in items
        if item.texts.get("gold")
    ]
    drawn = Sample(limit=CALIBRATED, seed=seed).draw(true)
    if len({case.reply for case in drawn}) < 2:
        return [f"the judge {name} was not tried on pairs: no true replies are known"]
    worth = await calibrate_pairs(judge, drawn, seed=seed)
    if worth.prefers_wrong is None:
        return [f"the judge {name} could not be read on any of {worth.unscored} pairs"]
    rate = worth.prefers_wrong
    return [
        f"the judge {name} does not prefer the true reply to one of another dialogue in "
        f"{100 * rate.mean:.1f} % [{100 * rate.low:.1f}, {100 * rate.high:.1f}] of {rate.count} "
        f"pairs; {worth.unscored} could not be read"
    ]
