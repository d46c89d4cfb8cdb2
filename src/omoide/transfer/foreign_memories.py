"""What another memory product has stored, before it is imported.

Each item of an export becomes a fact, a message of a conversation, or is kept as it is: as a note
of the kind `imported`, which is part of an export and erased with the user. Nothing is dropped
without a word, and the numbers add up.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from omoide.domain.fact import USER
from omoide.domain.text import checked_text
from omoide.errors import BadImport, BadInput
from omoide.transfer.foreign_conversations import ConversationBuilder, SkippedItem, stable_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from omoide.domain import Speaker
    from omoide.transfer.foreign_conversations import ForeignConversation

KIND = "imported"
"""The kind of the notes that keep what could not be mapped."""
DERIVED = ("embedding", "fact_embedding", "name_embedding", "summary_embedding", "score")
"""Fields that are computed from others: they are neither mapped nor kept."""


@dataclass(frozen=True, kw_only=True)
class ForeignFact:
    """A statement in another product's memory."""

    id: str
    """Stable: the same in each export."""
    text: str
    about: str = USER
    said: datetime | None = None
    since: datetime | None = None
    """When it became true."""
    ended: datetime | None = None
    """When the product learned that it no longer holds."""
    until: datetime | None = None
    """When it stopped being true."""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class KeptItem:
    """Something that has no counterpart, kept as it is."""

    key: str
    text: str
    """The item in JSON."""
    what: str
    """What it is, for people: `a relation`, `fields of a memory`."""


@dataclass(frozen=True, kw_only=True)
class ForeignMemories:
    """All that a file of a memory product holds."""

    source: str
    items: int
    """How many items the file has."""
    facts: tuple[ForeignFact, ...]
    conversations: tuple[ForeignConversation, ...]
    kept: tuple[KeptItem, ...]
    left_out: tuple[SkippedItem, ...]


@dataclass(kw_only=True)
class MemoriesBuilder:
    """Collects the items of a file."""

    source: str
    max_chars: int
    wanted: str | None = None
    """Whose items to take, if the file has several users."""
    items: int = 0
    mine: int = 0
    """How many items belong to `wanted`."""
    _facts: list[ForeignFact] = field(default_factory=list)
    _kept: list[KeptItem] = field(default_factory=list)
    _left_out: list[SkippedItem] = field(default_factory=list)
    _talks: dict[str, ConversationBuilder] = field(default_factory=dict)
    _starts: dict[str, datetime | None] = field(default_factory=dict)
    _users: dict[str, None] = field(default_factory=dict)

    def belongs(self, *names: object, where: str) -> bool:
        """Note an item that belongs to someone of these names (the first is shown), and whether it
        is to be imported. One that names nobody is left out if only one user's are wanted."""
        known = [str(name) for name in names if isinstance(name, str) and name]
        if self.wanted is not None:
            mine = self.wanted in known
            if not known:
                reason = "it names no user: with --from only those of the chosen one are imported"
                self.leave_out(reason, where=where)
            self.mine += mine
            return mine
        if known:
            self._users.setdefault(known[0])
        return True

    def fact(
        self, item: Mapping[str, Any], mapped: tuple[str, ...], *, where: str, id_: object,
        text: object, **more: Any,  # noqa: ANN401 - fields of a ForeignFact
    ) -> None:  # fmt: skip
        """Add a fact. Fields of the item that are not `mapped` are kept beside it."""
        self.items += 1
        try:
            said = checked_text(text if isinstance(text, str) else "", max_chars=self.max_chars)
        except BadInput:
            self._keep(item, what="a memory without usable text", where=where)
            return
        identity = id_ if isinstance(id_, str) and id_ else said
        name = stable_id(self.source, identity)
        self._facts.append(ForeignFact(id=name, text=said, **more))
        rest = {
            key: value
            for key, value in item.items()
            if key not in (*mapped, *DERIVED) and value not in (None, "", [], {})
        }
        if rest:
            self._note(name, rest, what="fields of a memory", where=where)

    def message(
        self,
        *,
        conversation: str,
        where: str,
        id_: object,
        speaker: Speaker,
        text: str,
        time: datetime | None,
        unique: bool = True,
    ) -> None:
        """Add a message to a conversation. `unique` says whether its id is the only one of its kind
        everywhere, or only in its conversation."""
        self.items += 1
        if conversation not in self._talks:
            self._talks[conversation] = ConversationBuilder(
                source=self.source, where="", max_chars=self.max_chars, unique=unique
            )
            self._starts[conversation] = time
        self._talks[conversation].add(where=where, id_=id_, speaker=speaker, text=text, time=time)

    def keep(self, item: object, *, what: str, where: str) -> None:
        """Keep an item that has no counterpart."""
        self.items += 1
        self._keep(item, what=what, where=where)

    def leave_out(self, reason: str, *, where: str) -> None:
        """Note an item that cannot be read at all."""
        self.items += 1
        self._left_out.append(SkippedItem(where=where, reason=reason))

    def _keep(self, item: object, *, what: str, where: str) -> None:
        text = json.dumps(item, sort_keys=True, ensure_ascii=False)
        self._note(stable_id(self.source, "kept", text), item, what=what, where=where)

    def _note(self, key: str, item: object, *, what: str, where: str) -> None:
        text = json.dumps(item, sort_keys=True, ensure_ascii=False)
        if len(text) > self.max_chars:
            reason = f"{what} of {len(text):,} characters is too long to be kept"
            self._left_out.append(SkippedItem(where=where, reason=reason))
            return
        self._kept.append(KeptItem(key=key, text=text, what=what))

    def built(self) -> ForeignMemories:
        """All of it. Raises `BadImport` if it belongs to several users and none was chosen."""
        if len(self._users) > 1:
            names = ", ".join(repr(name) for name in list(self._users)[:5])
            raise BadImport(
                f"this export of {self.source} belongs to {len(self._users)} users ({names}): "
                "choose one with --from NAME, so that nobody gets another's memory"
            )
        if self.wanted is not None and not self.mine:
            raise BadImport(f"nothing in this export of {self.source} belongs to {self.wanted!r}")
        talks = tuple(
            _in_order(builder.conversation(id_=key, started=self._starts[key], title=""))
            for key, builder in self._talks.items()
        )
        return ForeignMemories(
            source=self.source,
            items=self.items,
            facts=tuple(self._facts),
            conversations=talks,
            kept=tuple(self._kept),
            left_out=tuple(self._left_out),
        )


def _in_order(talk: ForeignConversation) -> ForeignConversation:
    """With its messages by their times, if all have one: some lists begin with the newest."""
    times = [message.time for message in talk.messages if message.time is not None]
    if len(times) < len(talk.messages):
        return talk
    order = sorted(range(len(times)), key=times.__getitem__)
    return replace(talk, messages=tuple(talk.messages[i] for i in order))


def rows(value: object, name: str) -> Iterator[tuple[int, Any]]:
    """The items of a list in an object, numbered from 1; none if there is no such list."""
    found = value.get(name) if isinstance(value, dict) else None
    yield from enumerate(found if isinstance(found, list) else (), 1)
