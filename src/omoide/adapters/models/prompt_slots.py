"""Gives each request a slot of llama.cpp, and the slot the state of the prompt's fixed part."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.adapters.models.llama import KeepsStates
from omoide.ports import SharedStart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from omoide.adapters.models.adapter import Adapter
    from omoide.adapters.models.llama import LoadedModel
    from omoide.adapters.models.prefixes import PrefixReader
    from omoide.adapters.models.slots import Slots
    from omoide.ports import Request


@dataclass(frozen=True, kw_only=True)
class SlottedRequest:
    """A request with the slot it is computed in."""

    body: dict[str, object]
    adapter: Adapter | None
    prefixes: PrefixReader | None
    shared: int = 0
    """How many characters of its messages the slot has computed already."""

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages of the request."""
        messages = self.body["messages"]
        assert isinstance(messages, list)  # noqa: S101 - `request_body` builds it
        return messages

    def begin(self, model: LoadedModel, request: Request, stopped: Callable[[], bool]) -> None:
        """Put the state of what all users' requests begin with into the slot, unless it is there
        already."""
        messages = self.messages[: request.fixed]
        if (
            self.prefixes is None
            or not messages
            or "id_slot" not in self.body
            or self.shared >= len(_text(messages)) - len("]")
            or not isinstance(model, KeepsStates)
        ):
            return
        texts = [model.beginning(messages)]
        if (today := request.today) > SharedStart(messages=request.fixed):
            texts.append(model.beginning(self.messages[: today.messages], today.text))
        self.prefixes.begin(model, self.body, texts, adapter=self.adapter, stopped=stopped)


class PromptSlots:
    """Chooses the slots of requests. Without `slots`, where all requests use the same adapter,
    llama.cpp chooses, except for the first request, which finds all slots empty."""

    def __init__(self, slots: Slots | None, *, prefixes: PrefixReader | None) -> None:
        self._slots = slots
        self._prefixes = prefixes
        self._unused = prefixes is not None
        self._lock = threading.Lock()

    @contextmanager
    def taken(
        self, body: dict[str, object], *, adapter: Adapter | None
    ) -> Iterator[SlottedRequest]:
        """The request with its slot, which is free again after the block."""
        if self._slots is None:
            with self._lock:
                first, self._unused = self._unused, False
            yield SlottedRequest(
                body={**body, "id_slot": 0} if first else body,
                adapter=adapter,
                prefixes=self._prefixes,
            )
            return
        slot, shared = self._slots.acquire(
            _text(body["messages"]), adapter=adapter.name if adapter else None
        )
        try:
            yield SlottedRequest(
                body={**body, "id_slot": slot},
                adapter=adapter,
                prefixes=self._prefixes,
                shared=shared,
            )
        finally:
            self._slots.release(slot)


def _text(messages: object) -> str:
    return json.dumps(messages, ensure_ascii=False)
