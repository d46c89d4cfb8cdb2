"""Random conversations through the proxy: what is stored is what was said, whatever happens.

Several conversations of one user, each under a key, with failures, retries, regenerated and broken
replies, edits, tools, prefills, idempotency keys, ended sessions and erasures. A longer run:

    pytest tests/integration/test_conversations.py --hypothesis-profile=long
"""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from omoide.domain import Speaker
from omoide.domain.text import in_parts
from omoide.server.options import Options
from omoide.testing.endpoint import Scripted, event, failure, stream, whole
from tests.examples import examples
from tests.server.serving import Bench, serving
from tests.unit.conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Coroutine

    import httpx

T = TypeVar("T")

CALL = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
RESULT = {"role": "tool", "tool_call_id": "c", "content": "42"}
KEYS = ("work", "work~2", "home")
WINDOW = 24
"""Turns after which a message that is sent again may count as said again."""


@dataclass(eq=False)
class Said:
    """One turn that must be stored."""

    speaker: Speaker
    text: str
    session: int
    partial: bool = False


@dataclass
class Conversation:
    """What a client knows of a conversation."""

    key: str
    history: list[dict[str, Any]] = field(default_factory=list)
    """What was said and answered."""
    asked: str | None = None
    """The last message, if it can be sent again."""
    before: list[dict[str, Any]] = field(default_factory=list)
    """The history before that message."""
    replies: list[Said] = field(default_factory=list)
    """The stored replies to it."""
    turn: Said | None = None
    """Its last part, as stored."""
    stored: list[str] = field(default_factory=list)
    """All its parts."""
    again: bool = True
    """Whether its session is still open."""


class Conversations(RuleBasedStateMachine):
    """A user with several conversations, and what must be stored of them."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.stack = AsyncExitStack()
        folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        options = Options(patience=300.0)
        self.bench: Bench = self.run(
            self.stack.enter_async_context(serving(Path(folder), options=options))
        )
        self.said: list[Said] = []
        self.erased: list[str] = []
        self.talks = {key: Conversation(key) for key in KEYS}
        self.numbers = count(10_001)  # none is part of another

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for it."""
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        """Stop the server."""
        self.run(self.stack.aclose())
        self.loop.close()

    # ── What clients do ─────────────────────────────────────────────────────────────────────

    @rule(
        key=st.sampled_from(KEYS),
        how=st.sampled_from(["plain", "control", "long", "unicode"]),
        streamed=st.booleans(),
        once=st.booleans(),
    )
    def says(self, key: str, how: str, streamed: bool, once: bool) -> None:
        """Something new, and gets an answer; perhaps sent twice under an idempotency key."""
        talk = self.talks[key]
        text, stored = self.words(how)
        reply = f"Reply {next(self.numbers)}."
        headers = {"Idempotency-Key": f"k{next(self.numbers)}"} if once else {}
        self.ask(talk, text, stored, before=talk.history)
        for _ in range(1 + (once and not streamed)):
            answer = stream(reply[:4], reply[4:]) if streamed else whole(reply)
            self.bench.upstairs.answers.append(answer)
            response = self.send(talk, self.messages(talk), headers=headers, stream=streamed)
        self.bench.upstairs.answers.clear()
        self.recorded(talk, response, stored)
        self.replied(talk, reply)

    @rule(key=st.sampled_from(KEYS), status=st.sampled_from([429, 500]))
    def fails(self, key: str, status: int) -> None:
        """Something new, and the upstream fails: the message is stored all the same."""
        talk = self.talks[key]
        text, stored = self.words("plain")
        self.ask(talk, text, stored, before=talk.history)
        self.bench.upstairs.answers.append(failure(status, "no"))
        self.recorded(talk, self.send(talk, self.messages(talk), status=status), stored)

    @rule(key=st.sampled_from(KEYS))
    def breaks_off(self, key: str) -> None:
        """Something new, and the answer breaks off: what came of it is stored."""
        talk = self.talks[key]
        text, stored = self.words("plain")
        self.ask(talk, text, stored, before=talk.history)
        part = f"Part {next(self.numbers)}"
        blocks = (event({"content": part}),)
        self.bench.upstairs.answers.append(Scripted(media_type="text/event-stream", blocks=blocks))
        self.recorded(talk, self.send(talk, self.messages(talk), stream=True), stored)
        self.add_reply(talk, part, partial=True)

    @precondition(lambda self: any(self.may_retry(talk) for talk in self.talks.values()))
    @rule(data=st.data(), streamed=st.booleans())
    def asks_again(self, data: st.DataObject, streamed: bool) -> None:
        """A retry or a regenerated answer: the message is not stored again, and the new answer
        takes the place of the former ones where it can be known that it is the same message."""
        talk = data.draw(st.sampled_from([t for t in self.talks.values() if self.may_retry(t)]))
        reply = f"Reply {next(self.numbers)}."
        self.bench.upstairs.answers.append(stream(reply) if streamed else whole(reply))
        anew = self.counts_as_new(talk)
        response = self.send(talk, self.messages(talk), stream=streamed)
        if anew:
            talk.replies, talk.again = [], True
            self.recorded(talk, response, talk.stored)
        first = not talk.before
        gone = [r for r in talk.replies if r.partial or not first] if talk.again else []
        self.said = [s for s in self.said if s not in gone]
        talk.replies = [r for r in talk.replies if r not in gone]
        self.replied(talk, reply)

    @precondition(lambda self: any(t.asked and t.before for t in self.talks.values()))
    @rule(data=st.data())
    def edits(self, data: st.DataObject) -> None:
        """The last message is sent in other words: both are stored."""
        talk = data.draw(st.sampled_from([t for t in self.talks.values() if t.asked and t.before]))
        text, stored = self.words("plain")
        self.ask(talk, text, stored, before=talk.before)
        reply = f"Reply {next(self.numbers)}."
        self.bench.upstairs.answers.append(whole(reply))
        self.recorded(talk, self.send(talk, self.messages(talk)), stored)
        self.replied(talk, reply)

    @rule(key=st.sampled_from(KEYS), spoken=st.booleans())
    def uses_a_tool(self, key: str, spoken: bool) -> None:
        """The model calls a tool, perhaps with a word before, and then answers."""
        talk = self.talks[key]
        text, stored = self.words("plain")
        self.ask(talk, text, stored, before=talk.history)
        aside = f"Let me look, {next(self.numbers)}." if spoken else None
        reply = f"Reply {next(self.numbers)}."
        self.bench.upstairs.answers += [whole(aside, tool_calls=CALL), whole(reply)]
        self.recorded(talk, self.send(talk, self.messages(talk)), stored)
        if aside:
            self.add_reply(talk, aside)
        calling = {"role": "assistant", "content": aside, "tool_calls": CALL}
        self.send(talk, [*self.messages(talk), calling, RESULT])
        self.replied(talk, reply)
        talk.asked = None

    @rule(key=st.sampled_from(KEYS))
    def begins_the_answer(self, key: str) -> None:
        """The client begins the assistant's answer itself."""
        talk = self.talks[key]
        text, stored = self.words("plain")
        self.ask(talk, text, stored, before=talk.history)
        reply = f"Reply {next(self.numbers)}."
        self.bench.upstairs.answers.append(whole(reply))
        begun = {"role": "assistant", "content": "Well,"}
        self.recorded(talk, self.send(talk, [*self.messages(talk), begun]), stored)
        self.replied(talk, reply)
        talk.asked = None

    @rule(key=st.sampled_from(KEYS))
    def ends(self, key: str) -> None:
        """The sessions of a conversation end; it may go on in another."""
        for session in self.run(self.bench.memory().sessions("ana")):
            if session.key == key and session.open:
                self.run(self.bench.memory().end_session("ana", session=session.number))
        self.talks[key].again = False

    @precondition(lambda self: self.said)
    @rule(data=st.data())
    def erases_a_session(self, data: st.DataObject) -> None:
        """All of it is gone, and what comes later is stored again."""
        number = data.draw(st.sampled_from(sorted({s.session for s in self.said})))
        self.run(self.erase({"session": number}))
        self.forget([s for s in self.said if s.session == number])

    @rule()
    def erases_everything(self) -> None:
        """The user is gone."""
        self.run(self.erase({"all": True}))
        self.forget(list(self.said))

    @rule()
    def waits(self) -> None:
        """A little time passes."""
        self.bench.clock.advance(timedelta(seconds=20))

    # ── What must hold ──────────────────────────────────────────────────────────────────────

    @invariant()
    def what_was_said_is_stored(self) -> None:
        """Each turn once, in order, and no other."""
        turns = self.run(self.bench.memory().turns("ana"))
        stored = [(turn.speaker, turn.text) for turn in turns]
        assert stored == [(said.speaker, said.text) for said in self.said]

    @invariant()
    def nothing_erased_is_left(self) -> None:
        """In no version, event or turn, and not for the page."""
        exported = self.run(self.exported())
        latest = self.run(self.bench.client.get("/api/latest", params={"user": "ana"})).text
        left = {said.text for said in self.said}
        for text in self.erased[-20:]:
            assert text in left or (text not in exported and text not in latest)

    # ── Helpers ─────────────────────────────────────────────────────────────────────────────

    def words(self, how: str) -> tuple[str, list[str]]:
        """A message that was never said before, and the texts that must be stored of it."""
        number = next(self.numbers)
        if how == "control":
            return f"Message\x0c {number}\x00.", [f"Message {number}."]
        if how == "unicode":
            return f"メッセージ{number}、🎉。", [f"メッセージ{number}、🎉。"]
        if how == "long":
            text = f"Line {number} of a long text.\n" * 500
            return text, in_parts(text, max_chars=SETTINGS.max_turn_chars)
        return f"Message {number}.", [f"Message {number}."]

    def ask(
        self, talk: Conversation, text: str, stored: list[str], *, before: list[dict[str, Any]]
    ) -> None:
        """Begin an exchange about a new message."""
        talk.asked, talk.before, talk.replies, talk.again = text, list(before), [], True
        talk.stored = stored

    def messages(self, talk: Conversation) -> list[dict[str, Any]]:
        """The request for the message."""
        return [*talk.before, {"role": "user", "content": talk.asked}]

    def send(
        self,
        talk: Conversation,
        messages: list[dict[str, Any]],
        *,
        headers: dict[str, str] | None = None,
        status: int = 200,
        **more: object,
    ) -> httpx.Response:
        """Send it; memory works, whatever the upstream does."""
        sent = {"X-Omoide-Session": talk.key, **(headers or {})}
        response = self.run(self.bench.chat(*messages, headers=sent, **more))
        assert response.status_code == status
        assert response.headers["x-omoide-status"] == "ok"
        return response

    def recorded(self, talk: Conversation, response: httpx.Response, stored: list[str]) -> None:
        """The message must be stored now."""
        session = int(response.headers["x-omoide-session"])
        parts = [Said(Speaker.USER, text, session) for text in stored]
        self.said += parts
        talk.turn = parts[-1]

    def add_reply(self, talk: Conversation, text: str, *, partial: bool = False) -> None:
        """A reply must be stored now: in the session of its message, or if that has ended, in the
        newest of the conversation."""
        sessions = self.run(self.bench.memory().sessions("ana"))
        newest = max(s.number for s in sessions if s.key == talk.key)
        said = Said(Speaker.ASSISTANT, text, newest, partial)
        self.said.append(said)
        talk.replies.append(said)

    def replied(self, talk: Conversation, text: str) -> None:
        """The client saw the answer."""
        self.add_reply(talk, text)
        talk.history = [*self.messages(talk), {"role": "assistant", "content": text}]

    def counts_as_new(self, talk: Conversation) -> bool:
        """Whether a message that is sent again was said again: its session shows that the client
        sends no history, and it was answered."""
        assert talk.turn is not None
        start = self.said.index(talk.turn) - len(talk.stored) + 1
        earlier = any(said.session == talk.turn.session for said in self.said[:start])
        answered = any(
            not reply.partial and reply.session == talk.turn.session for reply in talk.replies
        )
        return not talk.before and earlier and answered

    def may_retry(self, talk: Conversation) -> bool:
        """Whether the last message can be sent again and be known."""
        if talk.asked is None or talk.turn not in self.said:
            return False
        since = self.said[self.said.index(talk.turn) :]
        later = [s for s in since[1:] if s.session == talk.turn.session]
        return len(since) < WINDOW and not any(s.speaker is Speaker.USER for s in later)

    async def erase(self, target: dict[str, object]) -> None:
        """Erase through the server; the receipt is clean."""
        response = await self.bench.client.post("/api/erase", params={"user": "ana"}, json=target)
        assert response.status_code == 200
        assert response.json()["receipt"]["found"] == []

    def forget(self, gone: list[Said]) -> None:
        """These must not be stored any more, and the messages among them are new again."""
        self.said = [s for s in self.said if s not in gone]
        self.erased += [s.text for s in gone]
        for talk in self.talks.values():
            if talk.turn in gone or any(reply in gone for reply in talk.replies):
                talk.asked = None

    async def exported(self) -> str:
        """All that is stored of the user."""
        return str([record async for record in self.bench.memory().export("ana")])


Conversations.TestCase.settings = settings(
    max_examples=examples(12),
    stateful_step_count=50,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),  # a failure's own steps are short enough to read
)
TestConversations = Conversations.TestCase
