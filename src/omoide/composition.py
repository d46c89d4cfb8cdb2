"""Settings, a store and models become a memory: what bootstrap and tests have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from omoide.engine import Limits, Memory
from omoide.errors import BadInput
from omoide.mechanisms import MECHANISMS, Parts, chosen
from omoide.memory.mechanism import Company
from omoide.memory.replies import FORMS
from omoide.memory.search.recall import Recall

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from omoide.mechanisms import Entry
    from omoide.ports import ChatModel, Clock, Embedder, Store
    from omoide.settings import Settings


def compose(
    settings: Settings,
    *,
    store: Store,
    model: ChatModel,
    iterator: ChatModel,
    embedder: Embedder | None,
    clock: Clock,
    worker: str,
    known: Mapping[str, Entry] = MECHANISMS,
) -> Memory:
    """A memory of these parts, as the settings say. `known` is where mechanisms are looked up by
    name, so that a benchmark can add variants of its own."""
    recall = Recall(store=store, embedder=embedder)
    parts = Parts(
        settings=settings,
        store=store,
        model=model,
        iterator=iterator,
        embedder=embedder,
        recall=recall,
        clock=clock,
    )
    return Memory(
        tenant=settings.tenant,
        store=store,
        model=model,
        iterator=iterator,
        mechanisms=[chosen(known, name, "mechanism").make(parts) for name in settings.mechanisms],
        reply_form=chosen(FORMS, settings.asks_by, "reply form"),
        recall=recall,
        embedder=embedder,
        clock=clock,
        worker=worker,
        limits=Limits(
            idle=settings.idle,
            memory_tokens=settings.memory_tokens,
            reply_tokens=settings.reply_tokens,
            longest=settings.longest,
        ),
        company=Company(
            persona=settings.persona, called=settings.called, zone=_zone(settings.timezone)
        ),
    )


def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise BadInput(
            f"OMOIDE_TIMEZONE={name!r} is not a time zone; give one like Asia/Tokyo"
        ) from error
