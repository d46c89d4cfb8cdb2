"""The OpenAI Agents SDK: a `Session` that remembers.

    session = OmoideSession(memory, user="ana", session_id="thread-1")
    config = RunConfig(call_model_input_filter=session.add_memory)
    await Runner.run(agent, "What is my cat called?", session=session, run_config=config)

The session gives an agent the history of its conversation, word for word. `add_memory` adds what is
known from all other conversations to the instructions of each model call; nothing of it is written
into the history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from omoide import Speaker, Utterance
from omoide_frameworks.bridge import arun, ask
from omoide_frameworks.extras import extra
from omoide_frameworks.transcript import Transcript

with extra("openai-agents"):
    from agents.memory.session import SessionABC
    from agents.run_config import ModelInputData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents.items import TResponseInputItem
    from agents.memory.session_settings import SessionSettings
    from agents.run_config import CallModelData

    from omoide_frameworks.bridge import AnyMemory


class OmoideSession(SessionABC):
    """The history of one conversation, and the memory of its user."""

    def __init__(
        self,
        memory: AnyMemory,
        *,
        user: str,
        session_id: str,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._memory = memory
        self._user = user
        self._transcript = Transcript(user=user, session=session_id, framework="openai-agents")

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The history, or its latest items."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        items = cast("list[TResponseInputItem]", await arun(self._memory, self._transcript.items()))
        return items if limit is None else items[max(len(items) - limit, 0) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items; what was said in them is remembered."""
        plain = [dict(item) for item in items]
        await arun(self._memory, self._transcript.add(plain, _said(plain)))

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the newest item and return it."""
        return cast("TResponseInputItem | None", await arun(self._memory, self._transcript.pop()))

    async def clear_session(self) -> None:
        """Clear the history. What was said stays in memory, unless that is told to `erase` it."""
        await arun(self._memory, self._transcript.clear())

    async def add_memory(self, data: CallModelData[Any]) -> ModelInputData:
        """For `RunConfig.call_model_input_filter`."""
        given = data.model_data
        messages = [
            {"role": said.speaker.value, "content": said.text}
            for said in _said([dict(item) for item in given.input])
        ]
        if not any(message["role"] == "user" for message in messages):
            return given
        context = await ask(self._memory, "context", self._user, messages)
        parts = [part for part in (given.instructions, context.text) if part]
        return ModelInputData(input=given.input, instructions="\n\n".join(parts) or None)


def _said(items: Sequence[dict[str, Any]]) -> list[Utterance]:
    """The messages of user and assistant among the items."""
    return [
        Utterance(speaker=Speaker(item["role"]), text=text)
        for item in items
        if item.get("role") in ("user", "assistant") and (text := _text(item.get("content")))
    ]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content.strip()
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str)).strip()
