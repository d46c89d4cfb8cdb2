"""Threads of Anthropic's Messages protocol: conversations that the server holds (a beta of theirs).

`thread: {"type": "create"}` stores a conversation under the id of its answer;
`{"type": "continue", "previous_message_id": …}` goes on from there with new messages alone. A
thread has no branches: whoever continues an older answer is told so, and the client sends
everything anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omoide.server.problems import HttpProblem
from omoide.server.protocols.threads import new_id, new_thread
from omoide.wire.fields import Fields, refuse

if TYPE_CHECKING:
    from omoide.server.protocols.threads import Thread, Threads

_KEPT = ("system", "tools")
"""What a thread takes from the request that created it."""


@dataclass(frozen=True, kw_only=True)
class MessageThread:
    """A conversation that is to be stored with the answer."""

    threads: Threads
    body: dict[str, Any]
    """The request, with what was said before and without its thread."""
    thread: str
    after: Thread | None
    said: list[dict[str, Any]]
    """The new messages."""

    def message_id(self) -> str:
        """An id for the answer, which names the thread."""
        return new_id("msg", self.thread)

    async def keep(self, message: dict[str, Any]) -> None:
        """Store the new messages and the answer. If they are not stored the chat goes on: the
        client sends everything again when it is told that the thread is not there."""
        answered = {"role": "assistant", "content": message["content"]}
        response = {"id": message["id"], "output": [answered]}
        about = None
        if self.after is None:
            kept = {name: self.body[name] for name in _KEPT if self.body.get(name) is not None}
            about = {"id": message["id"], **kept}
        await self.threads.keep(
            self.thread, after=self.after, input=self.said, response=response, about=about
        )


async def opened(body: dict[str, Any], threads: Threads) -> MessageThread | None:
    """The thread that a request creates or continues; None if it has none."""
    rest = {name: value for name, value in body.items() if name != "thread"}
    if body.get("thread") is None:
        return None
    fields = Fields(body["thread"], where="thread")
    kind, previous = fields.one_of("type", "create", "continue"), fields.text("previous_message_id")
    fields.close()
    said = body["messages"]
    if kind != "continue":
        return MessageThread(threads=threads, body=rest, thread=new_thread(), after=None, said=said)
    for name in _KEPT:
        if body.get(name) is not None:
            refuse(name, "a thread keeps the one that it was created with")
    after = await threads.of_message(previous or "")
    if after is None:
        raise HttpProblem(
            404, "thread-not-found", f"no thread of this user has the message {previous!r:.80}"
        )
    if after.entries[-1].id != previous:
        raise HttpProblem(
            409, "thread-already-continued", f"the thread went on after {previous!r:.80}"
        )
    kept = {name: after.entries[0].about.get(name) for name in _KEPT}
    rest |= {**kept, "messages": [*after.items, *said]}
    return MessageThread(threads=threads, body=rest, thread=after.id, after=after, said=said)
