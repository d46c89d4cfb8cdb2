"""LlamaIndex: the memory of an agent or a chat engine.

    memory = OmoideMemory(omoide.open(), user="ana", session="thread-1")
    await agent.run("What is my cat called?", memory=memory)

It gives back the messages of the conversation, and before them, as a system message, what is known
from all other conversations. That message is made for each call and never stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omoide import Speaker, Utterance
from omoide_frameworks.bridge import AnyMemory, arun, call, run
from omoide_frameworks.extras import extra
from omoide_frameworks.transcript import Transcript

with extra("llamaindex"):
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.memory import BaseMemory
    from pydantic import PrivateAttr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide_frameworks.bridge import Flow


class OmoideMemory(BaseMemory):
    """The messages of one conversation of one user, and the memory of that user."""

    _memory: Any = PrivateAttr()
    _transcript: Transcript = PrivateAttr()

    def __init__(self, memory: AnyMemory, *, user: str, session: str) -> None:
        super().__init__()
        self._memory = memory
        self._transcript = Transcript(user=user, session=session, framework="llamaindex")

    @classmethod
    def class_name(cls) -> str:
        """The name of the class, for LlamaIndex."""
        return "OmoideMemory"

    @classmethod
    def from_defaults(cls, **kwargs: Any) -> OmoideMemory:  # noqa: ANN401 - of LlamaIndex
        """The same as the constructor."""
        return cls(**kwargs)

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002, ANN401
        """The messages, after what memory adds for the newest of the user."""
        return run(self._memory, self._with_memory(input))

    async def aget(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002, ANN401
        """The messages, after what memory adds for the newest of the user."""
        return await arun(self._memory, self._with_memory(input))

    def get_all(self) -> list[ChatMessage]:
        """The messages of the conversation."""
        return run(self._memory, self._stored())

    async def aget_all(self) -> list[ChatMessage]:
        """The messages of the conversation."""
        return await arun(self._memory, self._stored())

    def put(self, message: ChatMessage) -> None:
        """Append a message."""
        self.put_messages([message])

    async def aput(self, message: ChatMessage) -> None:
        """Append a message."""
        await self.aput_messages([message])

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Append messages; what was said in them is remembered."""
        run(self._memory, self._add(messages))

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Append messages; what was said in them is remembered."""
        await arun(self._memory, self._add(messages))

    def set(self, messages: list[ChatMessage]) -> None:
        """Replace the messages of the conversation. Those that are new are remembered."""
        run(self._memory, self._replace(messages))

    async def aset(self, messages: list[ChatMessage]) -> None:
        """Replace the messages of the conversation. Those that are new are remembered."""
        await arun(self._memory, self._replace(messages))

    def reset(self) -> None:
        """Clear the messages. What was said stays in memory, unless that is told to `erase` it."""
        run(self._memory, self._transcript.clear())

    async def areset(self) -> None:
        """Clear the messages, as `reset` does."""
        await arun(self._memory, self._transcript.clear())

    def _stored(self) -> Flow[list[ChatMessage]]:
        items = yield from self._transcript.items()
        return [ChatMessage.model_validate(item) for item in items]

    def _with_memory(self, text: str | None) -> Flow[list[ChatMessage]]:
        stored = yield from self._stored()
        said = [{"role": u.speaker.value, "content": u.text} for u in said_in(stored)]
        if text and (not said or said[-1]["content"] != text):
            said.append({"role": "user", "content": text})
        if not any(message["role"] == "user" for message in said):
            return stored
        context = yield call("context", self._transcript.user, said)
        known = [ChatMessage(role=MessageRole.SYSTEM, content=context.text)] if context.text else []
        return [*known, *stored]

    def _add(self, messages: Sequence[ChatMessage]) -> Flow[None]:
        items = [message.model_dump(mode="json") for message in messages]
        yield from self._transcript.add(items, said_in(messages))

    def _replace(self, messages: Sequence[ChatMessage]) -> Flow[None]:
        stored = yield from self._stored()
        yield call("remove_notes", self._transcript.user, kind=self._transcript.kind)
        known = [message.model_dump(mode="json") for message in stored]
        items = [message.model_dump(mode="json") for message in messages]
        new = [m for m, item in zip(messages, items, strict=True) if item not in known]
        yield from self._transcript.add(items, said_in(new))


def said_in(messages: Sequence[ChatMessage]) -> list[Utterance]:
    """What the user and the model said, as memory records it."""
    return [
        Utterance(speaker=Speaker(message.role.value), text=text)
        for message in messages
        if message.role in (MessageRole.USER, MessageRole.ASSISTANT)
        and (text := (message.content or "").strip())
    ]
