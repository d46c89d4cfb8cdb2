"""CrewAI: a memory for agents, crews and flows.

agent = Agent(role=..., memory=OmoideMemory(memory, user="ana", session="monday"))
agent.kickoff("What is my cat called?")
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

from omoide import Speaker, Utterance
from omoide.errors import BadInput
from omoide_frameworks.bridge import AnyMemory, blocking_memory
from omoide_frameworks.extras import extra

with extra("crewai"):
    from crewai.memory.types import MemoryMatch, MemoryRecord
    from crewai.memory.unified_memory import Memory
    from pydantic import PrivateAttr

if TYPE_CHECKING:
    from omoide import RecalledItem, SyncMemory, Turn

_DONE = re.compile(
    r"(?:Task|Input): (?P<asked>.*?)\nAgent: (?P<agent>[^\n]*)\n"
    r"(?:Expected result: .*?\n)?Result: (?P<result>.*)",
    re.DOTALL,
)
"""How CrewAI tells its memory of a finished task. Anything else is recorded as it is."""
IGNORED = ("depth", "include_private", "source")
"""Options without effect: recall asks no model, and nothing is private within a user's memory."""


class OmoideMemory(Memory):
    """Records what agents are asked and answer, and recalls without asking a model.

    CrewAI's scopes, categories, importance and private records have no counterpart: they are
    refused. Needs a memory of `omoide.open` or `omoide.connect`.
    """

    _omoide: Any = PrivateAttr()
    _user: str = PrivateAttr()
    _session: str | None = PrivateAttr()

    def __init__(
        self, memory: AnyMemory, *, user: str, session: str | None = None, read_only: bool = False
    ) -> None:
        super().__init__(storage=_NoStorage(), read_only=read_only)
        self._omoide: SyncMemory = blocking_memory(memory)
        self._user = user
        self._session = session

    def extract_memories(self, content: str) -> list[str]:
        """The content itself: omoide digests it after the session."""
        return [content] if content.strip() else []

    def remember(
        self, content: str, *args: object, agent_role: str | None = None, **options: object
    ) -> MemoryRecord | None:
        """Record what an agent notes, or a task and its result."""
        recorded = self.remember_many([content], *args, agent_role=agent_role, **options)
        return recorded[-1] if recorded else None

    def remember_many(
        self, contents: list[str], *args: object, agent_role: str | None = None, **options: object
    ) -> list[MemoryRecord]:
        """Record what an agent notes, or tasks and their results; durable on return."""
        if args:
            _refuse("scope")
        _only(options)
        if self.read_only:
            return []
        said = [turn for content in contents for turn in _utterances(content, agent_role)]
        if not said:
            return []
        turns = self._omoide.record(self._user, said, session=self._session)
        return [_recorded(turn) for turn in turns]

    def recall(
        self, query: str, *args: object, limit: int = 10, **options: object
    ) -> list[MemoryMatch]:
        """What is relevant to a query, best first."""
        if args:
            _refuse("scope")
        _only(options)
        if not query.strip():
            return []
        found = self._omoide.recall(self._user, query, k=limit)
        return [_match(item, best=found[0].score) for item in found]

    def forget(self, *args: object, **options: object) -> int:
        """Erase turns and facts for good, by the ids of recalled records."""
        ids = options.pop("record_ids", None)
        _only(options)
        if args or not isinstance(ids, list):
            _refuse("anything but record_ids")
        named = [str(id_).partition(":") for id_ in ids]
        if wrong := [kind for kind, _, _ in named if kind not in ("turn", "fact")]:
            raise BadInput(f"only turns and facts can be erased by id, not {wrong[0]!r}")
        what = {f"{kind}s": [id_ for k, _, id_ in named if k == kind] for kind, _, _ in named}
        erased = self._omoide.erase(self._user, **what) if what else None
        return erased.turns + erased.facts if erased else 0

    def reset(self, scope: str | None = None) -> None:
        """Erase everything about the user."""
        if scope is not None:
            _refuse("scope")
        self._omoide.erase(self._user)

    def reset_all(self) -> None:
        """Erase everything about the user."""
        self.reset()


class _NoStorage:
    """In place of CrewAI's vector store: what would be asked of it is refused."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{name} is of CrewAI's own storage, which omoide does not use: ask the memory of "
            "omoide itself (facts, turns, summary)"
        )


def _utterances(content: str, agent: str | None) -> list[Utterance]:
    done = _DONE.fullmatch(content)
    if done is None:
        note = Utterance(speaker=Speaker.ASSISTANT, text=content, name=agent)
        return [note] if content.strip() else []
    said = ((Speaker.USER, done["asked"], None), (Speaker.ASSISTANT, done["result"], done["agent"]))
    return [
        Utterance(speaker=speaker, text=text.strip(), name=(name or "").strip() or None)
        for speaker, text, name in said
        if text.strip()
    ]


def _recorded(turn: Turn) -> MemoryRecord:
    return MemoryRecord(id=f"turn:{turn.id}", content=turn.text, created_at=turn.time)


def _match(item: RecalledItem, *, best: float) -> MemoryMatch:
    record = MemoryRecord(
        id=f"{item.kind.value}:{item.id}", content=item.text, created_at=item.time
    )
    score = item.score / best if best > 0 else 0.0
    return MemoryMatch(record=record, score=score, match_reasons=[item.kind.value])


def _only(options: dict[str, object]) -> None:
    """Refuse options that would change what is stored or found."""
    given = [name for name, value in options.items() if value and name not in IGNORED]
    if given:
        _refuse(given[0])


def _refuse(what: str) -> NoReturn:
    raise BadInput(
        f"omoide's memory has no counterpart to CrewAI's {what}. What to do: leave it out, or "
        "give each scope a user or a session of its own"
    )
