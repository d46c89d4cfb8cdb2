"""`omoide cost`: what the models took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from omoide.cli.scope import scoped
from omoide.cli.show import emit, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from omoide.cli.scope import Scope
    from omoide.domain import Call

GROUPS: dict[str, Callable[[Call], str]] = {
    "purpose": lambda call: call.purpose.value,
    "session": lambda call: f"session {call.session}" if call.session else "no session",
    "model": lambda call: call.model,
    "day": lambda call: f"{call.time.astimezone():%Y-%m-%d}",
}


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Money for a million tokens, in and out."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """What so many tokens cost."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


@dataclass(frozen=True, kw_only=True)
class Sum:
    """What a group of calls took."""

    name: str
    calls: int
    failed: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    price: float | None


def summed(name: str, calls: Sequence[Call], prices: Prices | None) -> Sum:
    """The sum of some calls. Calls that failed were paid for all the same."""
    prompt = sum(call.prompt_tokens for call in calls)
    completion = sum(call.completion_tokens for call in calls)
    return Sum(
        name=name,
        calls=len(calls),
        failed=sum(call.failed for call in calls),
        prompt_tokens=prompt,
        completion_tokens=completion,
        seconds=round(sum(call.seconds for call in calls), 3),
        price=prices.of(prompt, completion) if prices else None,
    )


def grouped(calls: Iterable[Call], by: str, prices: Prices | None) -> list[Sum]:
    """Sums by group, in the order in which the groups first came."""
    groups: dict[str, list[Call]] = {}
    for call in calls:
        groups.setdefault(GROUPS[by](call), []).append(call)
    return [summed(name, members, prices) for name, members in groups.items()]


@click.command()
@click.option(
    "--by", type=click.Choice(list(GROUPS)), default="purpose", show_default=True, help="Group by."
)
@click.option("--price-in", type=click.FloatRange(min=0), help="Price of a million prompt tokens.")
@click.option("--price-out", type=click.FloatRange(min=0), help="Price of a million answer tokens.")
@scoped
def cost(scope: Scope, by: str, price_in: float | None, price_out: float | None) -> None:
    """Sum the calls of models: tokens in and out, seconds, and money if prices are given."""
    priced = price_in is not None or price_out is not None
    prices = Prices(prompt=price_in or 0.0, completion=price_out or 0.0) if priced else None
    calls = scope.run(lambda memory: memory.calls(scope.user))
    sums, total = grouped(calls, by, prices), summed("total", calls, prices)
    if scope.json:
        emit({"by": by, "groups": sums, "total": total})
        return
    head = [by, "calls", "failed", "tokens in", "tokens out", "seconds", *(["price"] * priced)]
    click.echo(table(head, [_row(s) for s in (*sums, total)], right=range(1, len(head))))


def _row(line: Sum) -> list[str]:
    counts = (line.calls, line.failed, line.prompt_tokens, line.completion_tokens)
    price = [] if line.price is None else [f"{line.price:,.4f}"]
    return [line.name, *(f"{count:,}" for count in counts), f"{line.seconds:,.1f}", *price]
