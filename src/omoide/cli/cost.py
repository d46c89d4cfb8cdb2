"""`omoide cost`: what the model calls cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from omoide.cli.scope import scoped
from omoide.cli.show import emit, table
from omoide.cli.zone import zone
from omoide.domain.cost import GROUPS, CostSum, grouped, total_cost

if TYPE_CHECKING:
    from omoide.cli.scope import Scope


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Prices of a million prompt and completion tokens."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """The price of that many tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


@dataclass(frozen=True, kw_only=True)
class PricedSum(CostSum):
    """The cost of a group of calls, with its price if prices are known."""

    price: float | None

    @classmethod
    def of(cls, cost: CostSum, prices: Prices | None) -> PricedSum:
        """The sum at these prices."""
        price = prices.of(cost.prompt_tokens, cost.completion_tokens) if prices else None
        return cls(**vars(cost), price=price)


@click.command()
@click.option(
    "--by", type=click.Choice(list(GROUPS)), default="purpose", show_default=True, help="Group by."
)
@click.option("--price-in", type=click.FloatRange(min=0), help="Price of a million prompt tokens.")
@click.option("--price-out", type=click.FloatRange(min=0), help="Price of a million answer tokens.")
@scoped
def cost(scope: Scope, by: str, price_in: float | None, price_out: float | None) -> None:
    """Sum the model calls: tokens in and out, seconds, and the price if prices are given."""
    priced = price_in is not None or price_out is not None
    prices = Prices(prompt=price_in or 0.0, completion=price_out or 0.0) if priced else None
    calls = scope.run(lambda memory: memory.calls(scope.user))
    sums = [PricedSum.of(group, prices) for group in grouped(calls, by, zone=zone())]
    total = PricedSum.of(total_cost("total", calls), prices)
    if scope.json:
        emit({"by": by, "groups": sums, "total": total})
        return
    head = [by, "calls", "failed", "tokens in", "tokens out", "seconds", *(["price"] * priced)]
    click.echo(table(head, [_row(s) for s in (*sums, total)], right=range(1, len(head))))


def _row(line: PricedSum) -> list[str]:
    counts = (line.calls, line.failed, line.prompt_tokens, line.completion_tokens)
    price = [] if line.price is None else [f"{line.price:,.4f}"]
    return [line.name, *(f"{count:,}" for count in counts), f"{line.seconds:,.1f}", *price]
