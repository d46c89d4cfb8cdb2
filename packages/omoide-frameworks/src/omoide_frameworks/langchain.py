"""LangChain: a chat history that remembers.

chain = RunnableWithMessageHistory(
    model, lambda session_id: OmoideChatMessageHistory(memory, user="ana", session=session_id)
)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide import Speaker, Utterance
from omoide_frameworks.bridge import arun, run
from omoide_frameworks.extras import extra
from omoide_frameworks.transcript import Transcript

with extra("langchain"):
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.messages import (
        AIMessage,
        HumanMessage,
        messages_from_dict,
        messages_to_dict,
    )

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import BaseMessage

    from omoide_frameworks.bridge import AnyMemory


class OmoideChatMessageHistory(BaseChatMessageHistory):
    """The messages of one conversation. What was said in them is remembered."""

    def __init__(self, memory: AnyMemory, *, user: str, session: str) -> None:
        self._memory = memory
        self._transcript = Transcript(user=user, session=session, framework="langchain")

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """All messages, oldest first."""
        return messages_from_dict(run(self._memory, self._transcript.items()))

    async def aget_messages(self) -> list[BaseMessage]:
        """All messages, oldest first."""
        return messages_from_dict(await arun(self._memory, self._transcript.items()))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages."""
        run(self._memory, self._transcript.add(messages_to_dict(messages), said_in(messages)))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages."""
        items = messages_to_dict(messages)
        await arun(self._memory, self._transcript.add(items, said_in(messages)))

    def clear(self) -> None:
        """Clear the history. What was said stays in memory, unless that is told to `erase` it."""
        run(self._memory, self._transcript.clear())

    async def aclear(self) -> None:
        """Clear the history, as `clear` does."""
        await arun(self._memory, self._transcript.clear())


def said_in(messages: Sequence[BaseMessage]) -> list[Utterance]:
    """What people and the model said, as memory records it."""
    speakers = {HumanMessage: Speaker.USER, AIMessage: Speaker.ASSISTANT}
    found = []
    for message in messages:
        speaker = next((s for kind, s in speakers.items() if isinstance(message, kind)), None)
        text = str(message.text).strip()
        if speaker is not None and text:
            found.append(Utterance(speaker=speaker, text=text))
    return found
