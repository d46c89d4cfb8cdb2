"""Google's Agent Development Kit: a memory service.

    runner = Runner(agent=agent, memory_service=OmoideMemoryService(memory), ...)

The agent reaches it by the tools `load_memory` and `preload_memory`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from omoide import Speaker, Utterance
from omoide.errors import BadInput
from omoide_frameworks.bridge import ask
from omoide_frameworks.extras import extra

with extra("adk"):
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai import types

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

    from omoide import RecalledItem
    from omoide_frameworks.bridge import AnyMemory


class OmoideMemoryService(BaseMemoryService):
    """Remembers sessions, event by event, and recalls what is relevant to a query.

    ADK's memory belongs to a user of an app, so the user in omoide is `APP/USER`. With
    `shared=True` it is the user alone, and all apps share one memory of them.
    """

    def __init__(self, memory: AnyMemory, *, shared: bool = False, k: int = 10) -> None:
        self._memory = memory
        self._shared = shared
        self._k = k

    async def add_session_to_memory(self, session: Session) -> None:
        """Record the events of a session that are not recorded yet."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Record events, each once."""
        said = [utterance for event in events if (utterance := _utterance(event)) is not None]
        if said:
            user = self._user(app_name, user_id)
            await ask(self._memory, "record", user, said, session=session_id)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """What is relevant to a query, best first."""
        if not query.strip():
            return SearchMemoryResponse()
        user = self._user(app_name, user_id)
        found = await ask(self._memory, "recall", user, query, k=self._k)
        return SearchMemoryResponse(memories=[_entry(item) for item in found])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Erase a recalled turn or fact for good."""
        kind, _, id_ = (memory_id or "").partition(":")
        if kind not in ("turn", "fact") or not id_:
            raise BadInput(f"only turns and facts can be deleted by id, not {memory_id!r}")
        user = self._user(app_name, user_id)
        await ask(self._memory, "erase", user, **{f"{kind}s": [id_]})

    def _user(self, app_name: str, user_id: str) -> str:
        return user_id if self._shared else f"{app_name}/{user_id}"


def _utterance(event: Event) -> Utterance | None:
    """What was said in an event; None for tool calls and fragments of a stream."""
    parts = event.content.parts if event.content and not event.partial else None
    text = "\n".join(p.text for p in parts or () if p.text and not p.thought).strip()
    if not text:
        return None
    return Utterance(
        speaker=Speaker.USER if event.author == "user" else Speaker.ASSISTANT,
        text=text,
        id=f"adk-{event.id}",
        time=datetime.fromtimestamp(event.timestamp, UTC),
    )


def _entry(item: RecalledItem) -> MemoryEntry:
    role = "model" if item.speaker is Speaker.ASSISTANT else "user"
    return MemoryEntry(
        id=f"{item.kind.value}:{item.id}",
        content=types.Content(role=role, parts=[types.Part(text=item.text)]),
        author=item.speaker.value if item.speaker else None,
        timestamp=item.time.isoformat(),
        custom_metadata={"kind": item.kind.value, "sources": list(item.sources)},
    )
