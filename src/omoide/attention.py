"""What memory makes of one moment: every mechanism is heard, and what is used consolidates."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.language import dominant
from omoide.memory.mechanism import Company, Moment, fit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from omoide.domain import Owner, Turn
    from omoide.memory.mechanism import Contribution, Mechanism
    from omoide.ports import Store

    Forgive = Callable[[Exception], None]

RECENT = 8
"""The user's turns by which the language of a reply is told: people switch."""


@dataclass(frozen=True, kw_only=True)
class Attention:
    """A moment, and what memory puts into the prompt of its reply."""

    moment: Moment
    contributions: tuple[Contribution, ...]


class Attending:
    """Hears the mechanisms of one configuration, in its order."""

    def __init__(
        self,
        store: Store,
        mechanisms: Sequence[Mechanism],
        *,
        budget: int,
        company: Company | None = None,
    ) -> None:
        self._store = store
        self._company = company or Company()
        self._mechanisms = tuple(mechanisms)
        self._budget = budget

    async def attend(
        self,
        turn: Turn,
        *,
        owner: Owner,
        now: datetime,
        text: str | None = None,
        last: int | None = None,
        forgive: Forgive | None = None,
    ) -> Attention:
        """What there is to add to the reply to a turn that is recorded. `text` is what the user
        wants answered, if more than the turn; `last` turns of the session count as being talked
        about, so that what lies further back may be recalled. With `forgive`, which is told of
        it, a mechanism that fails keeps none of the others from speaking."""
        session = await self._store.turns.read(owner, session=turn.session, last=last)
        said = [t.text for t in session if t.speaker is Speaker.USER]
        moment = Moment(
            owner=owner,
            text=turn.text if text is None else text,
            session=tuple(t for t in session if t.position <= turn.position),
            now=now.astimezone(self._company.zone),
            language=dominant(said[-RECENT:]),
            company=self._company,
        )
        # They only read, so they need not wait for each other.
        heard = await asyncio.gather(
            *(mechanism.contribute(moment) for mechanism in self._mechanisms),
            return_exceptions=True,
        )
        offered: list[Contribution] = []
        for offer in heard:
            if isinstance(offer, Exception) and forgive is not None:
                forgive(offer)
            elif isinstance(offer, BaseException):
                raise offer
            else:
                offered.extend(offer)
        return Attention(moment=moment, contributions=fit(offered, budget=self._budget))

    async def used(self, attention: Attention) -> None:
        """The reply was made with it: recalls consolidate."""
        for mechanism in self._mechanisms:
            own = [c for c in attention.contributions if c.mechanism == mechanism.name]
            await mechanism.used(attention.moment, own)
