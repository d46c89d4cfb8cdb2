"""`omoide cost`: what the models took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from omoide.cli.scope import scoped
from omoide.cli.show import emit, table
from omoide.domain.cost import GROUPS, Sum, grouped, summed

if TYPE_CHECKING:
    from omoide.cli.scope import Scope


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Money for a million tokens, in and out."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """What so many tokens cost."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


@dataclass(frozen=True, kw_only=True)
class Priced(Sum):
    """What a group of calls took, with what that costs if prices are known."""

    price: float | None

    @classmethod
    def of(cls, took: Sum, prices: Prices | None) -> Priced:
        """At these prices."""
        price = prices.of(took.prompt_tokens, took.completion_tokens) if prices else None
        return cls(**vars(took), price=price)


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
    sums = [Priced.of(took, prices) for took in grouped(calls, by)]
    total = Priced.of(summed("total", calls), prices)
    if scope.json:
        emit({"by": by, "groups": sums, "total": total})
        return
    head = [by, "calls", "failed", "tokens in", "tokens out", "seconds", *(["price"] * priced)]
    click.echo(table(head, [_row(s) for s in (*sums, total)], right=range(1, len(head))))


def _row(line: Priced) -> list[str]:
    counts = (line.calls, line.failed, line.prompt_tokens, line.completion_tokens)
    price = [] if line.price is None else [f"{line.price:,.4f}"]
    return [line.name, *(f"{count:,}" for count in counts), f"{line.seconds:,.1f}", *price]
