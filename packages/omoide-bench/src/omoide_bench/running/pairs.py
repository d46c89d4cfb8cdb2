"""Pairwise judging of two methods' replies, in both orders: win rates and position bias.

To calibrate the judge, it also compares true replies with replies of other dialogues. The result's
notes say how often it does not prefer the true one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.engine import complete
from omoide.errors import BadInput
from omoide_bench.concurrency import gather_all, gather_both
from omoide_bench.judges import Pair, PairJudge, ReplyCase, calibrate_pairs, pair_report
from omoide_bench.running.cached_model import MethodModel
from omoide_bench.running.results import Duel
from omoide_bench.tasks.base import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_bench.judges import PairReport
    from omoide_bench.running.cached_model import SharedModel
    from omoide_bench.running.items import ScoredItem
    from omoide_bench.running.runner import MethodRun

CALIBRATED = 50
"""True replies that the judge is calibrated on."""


async def pairwise_comparisons(
    done: Sequence[tuple[str, MethodRun]],
    *,
    one: str,
    judge: SharedModel,
    seed: int,
    most: int = 200,
) -> tuple[list[Duel], list[str]]:
    """The method `one` against every other on the same items, and notes on the judge."""
    texts = {
        name: {
            item.id: item
            for item in sorted(run.items, key=lambda item: item.id)  # not as they came in
            if "reply" in item.texts
        }
        for name, run in done
    }
    if one not in texts:
        raise BadInput(f"{one} is not among the methods that were run: {', '.join(texts)}")
    judge_model = MethodModel(judge)
    pair_judge = PairJudge(ask=lambda request: complete(judge_model, request))
    shared = {
        name: Sample(limit=most, seed=seed).draw([i for i in texts[one] if i in items])
        for name, items in texts.items()
        if name != one
    }
    verdicts, notes = await gather_both(
        gather_all(
            pair_judge.compare(_pair(texts[one][i], texts[name][i]))
            for name, drawn in shared.items()
            for i in drawn
        ),
        _calibration(pair_judge, list(texts[one].values()), judge_model.name, seed),
    )
    given = iter(verdicts)
    reports = {name: pair_report([next(given) for _ in drawn]) for name, drawn in shared.items()}
    return [_duel(one, name, reports[name]) for name, drawn in shared.items() if drawn], notes


def _duel(one: str, other: str, report: PairReport) -> Duel:
    return Duel(
        one=one,
        other=other,
        wins=report.wins,
        losses=report.losses,
        ties=report.ties,
        slight_wins=report.slight_wins,
        slight_losses=report.slight_losses,
        unscored=report.unscored,
        consistent=report.consistent,
        position_bias=report.position_bias,
    )


def _pair(ours: ScoredItem, theirs: ScoredItem) -> Pair:
    return Pair(
        known=ours.texts.get("known", ""),
        dialogue=ours.texts.get("dialogue", ""),
        ours=ours.texts["reply"],
        theirs=theirs.texts["reply"],
    )


async def _calibration(
    judge: PairJudge, items: Sequence[ScoredItem], name: str, seed: int
) -> list[str]:
    true = [
        ReplyCase(
            known=item.texts.get("known", ""),
            dialogue=item.texts.get("dialogue", ""),
            reply=item.texts["gold"],
        )
        for item in items
        if item.texts.get("gold")
    ]
    drawn = Sample(limit=CALIBRATED, seed=seed).draw(true)
    if len({case.reply for case in drawn}) < 2:
        return [f"the judge {name} was not calibrated on pairs: no true replies are known"]
    calibration = await calibrate_pairs(judge, drawn, seed=seed)
    if calibration.prefers_wrong is None:
        return [f"the judge {name} gave no readable verdict on any of {calibration.unscored} pairs"]
    rate = calibration.prefers_wrong
    return [
        f"the judge {name} does not prefer the true reply to a reply of another dialogue in "
        f"{100 * rate.mean:.1f} % [{100 * rate.low:.1f}, {100 * rate.high:.1f}] of {rate.count} "
        f"pairs; {calibration.unscored} were unreadable"
    ]
