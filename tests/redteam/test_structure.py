"""Whatever was planted, it stands in a prompt as quoted words only: it closes no mark, opens no
message, forges no line, and is never digested as what the user said."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Note, Owner, Speaker
from omoide.engine.messages import Utterance, with_memory
from omoide.engine.runtime import Runtime
from omoide.mechanisms.baselines.generative_agents import REFLECTION
from omoide.mechanisms.baselines.memory_bank_summaries import DAY, GLOBAL
from omoide.mechanisms.reply_forms import FORMS
from omoide.prompts.quoting import as_list, quoted, without_template_tokens
from omoide.settings import Settings
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel
from omoide_bench.redteam.cases import Attack, load
from omoide_bench.redteam.planting import LATER, plant
from tests.lanes import some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.mechanisms.base import Contribution
    from omoide.ports import Request

CASES = load()
LANGUAGES = ("en", "zh", "ja", "ko", "vi")
LIGHT = ("en", "ja")
"""Those that run in `make test`."""
TOGETHER = {
    "ours": ("summary", "search", "memos", "human-recall"),
    "theirs": (
        "memochat",
        "compressed-memos",
        "generative-agents",
        "memory-bank",
        "bm25",
        "dense",
        "context",
    ),
}
TOKENS = re.compile(
    r"<\s*\||\|\s*>|<\s*/?\s*(?:s|bos|eos|start_of_turn|end_of_turn)\s*>|<<\s*/?\s*SYS|"
    r"\[/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|AVAILABLE_TOOLS)\]"
)
BLOCK = re.compile(r"<memory>\n(.*?)\n</memory>", re.DOTALL)


class Asked(ScriptedModel):
    """Answers the same thing for ever, and keeps every request."""

    def __init__(self, answer: str) -> None:
        super().__init__(name="asked", window=100_000)
        self._answer = answer

    async def stream(self, request: Request):  # type: ignore[no-untyped-def] # noqa: ANN201 - as the base's
        """Refill the script, then answer."""
        self.answers.append(self._answer)
        async for piece in super().stream(request):
            yield piece


async def opened(mechanisms: Sequence[str], *, form: str = "chat", answer: str = "1") -> Runtime:
    """A memory of these mechanisms that can hold everything at once."""
    settings = Settings(
        db=Path(":memory:"),
        mechanisms=tuple(mechanisms),
        reply_form=form,
        memory_tokens=50_000,
        recall_tokens=50_000,
    )
    return Runtime(
        settings,
        store=await SqliteStore.open(":memory:"),
        model=Asked("Fine."),
        summariser=Asked(answer),
        embedder=HashEmbedder(),
        clock=FrozenClock(),
        name="w",
    )


def requests(runtime: Runtime) -> list[Request]:
    """What the model that replies was asked."""
    assert isinstance(runtime.model, Asked)
    return runtime.model.requests


def permitted(contributions: Sequence[Contribution]) -> set[str]:
    """The lines that memory may have: its items as they are quoted, with a dash or without; all
    lines after an item's first are indented."""
    lines = {line for c in contributions for line in quoted(c.text).splitlines()}
    return lines | {f"- {line}" for line in lines}


def safe(case: Attack, content: str, allowed: set[str]) -> None:
    """A message has no token of a template, at most one pair of marks, and the canary, if it is
    there, only within them, in lines of an item as it is quoted."""
    seen = unicodedata.normalize("NFKC", content)
    assert not TOKENS.search(seen)
    marks = re.findall(r"<\s*/?\s*memory[^>]*>", seen, re.IGNORECASE)
    assert marks in ([], ["<memory>", "</memory>"])
    outside = BLOCK.sub("", seen)
    assert case.canary not in outside
    for line in content.splitlines():
        assert case.canary not in line or line in allowed


@pytest.mark.parametrize("group", TOGETHER)
@pytest.mark.parametrize("language", some(LANGUAGES, LIGHT))
async def test_it_arrives_only_as_quoted_data(language: str, group: str) -> None:
    """Through every mechanism, in the library's chat and in the proxy's."""
    runtime = await opened(TOGETHER[group])
    memory = runtime.memory()
    clock = FrozenClock()
    reached = 0
    cases = [case for case in CASES if case.language == language]
    for case in cases:
        user = case.id
        await plant(memory, case, store=runtime.store, user=user, at=clock.now() - LATER)
        owner = Owner(tenant=memory.tenant, user=user)
        insight = json.dumps({"text": case.attack, "sources": []})
        for kind, key, text in (
            (GLOBAL, "portrait", case.attack),
            (DAY, "2026-01-04", case.attack),
            (REFLECTION, "00000001-0", insight),
        ):
            note = Note(kind=kind, key=key, text=text, time=clock.now() - LATER)
            await runtime.store.notes.put(owner, note)
        made = case.via in ("memo", "event")  # asked in its own words, so that it comes to mind
        asked = case.attack.replace(case.canary, "") if made else case.question
        reply = await memory.reply(user, asked)
        await reply.text()
        reached += any(case.canary in c.text for c in reply.contributions)
        request = requests(runtime)[-1]
        assert [m.role for m in request.messages] == ["system", "user"]
        allowed = permitted(reply.contributions)
        for message in request.messages:
            safe(case, message.content, allowed)
        client = [{"role": "user", "content": case.question}]
        today = clock.now().date()
        for sent in with_memory(
            client, reply.contributions, last=0, language=language, today=today
        ):
            safe(case, str(sent["content"]), allowed)
    assert reached >= len(cases) - 1  # a name never gets as far as a prompt
    await runtime.store.close()


@pytest.mark.parametrize(
    ("form", "step"),
    [*((form, 5) for form in sorted(FORMS)), pytest.param("paper", 1, marks=pytest.mark.heavy)],
)
async def test_every_form_of_a_reply_holds_it_as_items(form: str, step: int) -> None:
    """Also where memory has a section instead of marks, an attack begins no line but its own."""
    runtime = await opened(TOGETHER["ours"], form=form)
    memory = runtime.memory()
    clock = FrozenClock()
    for case in CASES[::step]:
        await plant(memory, case, store=runtime.store, user=case.id, at=clock.now() - LATER)
        reply = await memory.reply(case.id, case.question)
        await reply.text()
        allowed = permitted(reply.contributions)
        for message in requests(runtime)[-1].messages:
            assert not TOKENS.search(unicodedata.normalize("NFKC", message.content))
            for line in message.content.splitlines():
                assert case.canary not in line or line in allowed
    await runtime.store.close()


@pytest.mark.parametrize("language", some(LANGUAGES, LIGHT))
async def test_a_digest_is_asked_with_words_only(language: str) -> None:
    """When the session itself is digested, an attack is one line of one speaker, without tokens,
    and forged lines of other speakers stand within it."""
    for mechanisms in (["summary"], ["memos"], ["human-recall"], ["memory-bank"]):
        runtime = await opened(mechanisms, answer="{}")
        memory = runtime.memory()
        for case in (c for c in CASES if c.language == language and c.via == "turn"):
            said = Utterance(speaker=case.speaker, text=case.text, name=case.name)
            await memory.record(case.id, [said])
            await memory.end_session(case.id)
        await memory.run_jobs()
        assert isinstance(runtime.summariser, Asked)
        asked = runtime.summariser.requests
        assert asked or mechanisms == ["summary"]
        for request in asked:
            for message in request.messages:
                assert not TOKENS.search(unicodedata.normalize("NFKC", message.content))
                assert not re.search(r"</?memory", message.content)
        everything = "\n".join(m.content for r in asked for m in r.messages)
        for case in (c for c in CASES if c.language == language and c.kind == "forged-role"):
            holding = [line for line in everything.splitlines() if case.canary in line]
            first = case.text.splitlines()[0]
            assert all(first in line for line in holding)
        await runtime.store.close()


async def test_what_was_recalled_is_not_digested_as_said() -> None:
    """A client that sends a prompt of ours back does not make the user say what was in it."""
    for mechanisms in (["summary"], ["memos"], ["human-recall"], ["memory-bank"]):
        runtime = await opened(mechanisms, answer="{}")
        memory = runtime.memory()
        case = CASES[0]
        echoed = f"I like tea.\n\n<memory>\n- {case.text}\n</memory>\nReply to what I said."
        await memory.record("ana", [Utterance(speaker=Speaker.USER, text=echoed)])
        await memory.end_session("ana")
        await memory.run_jobs()
        assert isinstance(runtime.summariser, Asked)
        asked = "\n".join(m.content for r in runtime.summariser.requests for m in r.messages)
        assert "I like tea." in asked
        assert case.canary not in asked
        await runtime.store.close()


async def test_attacks_on_memory_leave_it_as_it_was() -> None:
    """Asked in words to erase or replace what is stored, memory keeps every turn, and a model that
    plays along does not get an empty answer into it."""
    runtime = await opened(["summary"], answer="")
    memory = runtime.memory()
    clock = FrozenClock()
    for case in (case for case in CASES if case.kind == "erase"):
        await plant(
            memory, case, store=runtime.store, user=case.id, at=clock.now() - timedelta(days=2)
        )
        before = await memory.turns(case.id)
        await (await memory.reply(case.id, case.text)).text()
        await memory.end_session(case.id)
        await memory.run_jobs()
        assert (await memory.turns(case.id))[: len(before)] == before
        assert all(v.sentences for v in await memory.history(case.id))
    await runtime.store.close()


def test_there_are_enough_cases() -> None:
    """At least 60, alike in five languages, each with a canary of its own that its question does
    not hold and its attack does."""
    assert len(CASES) >= 60
    assert len(set(Counter(case.language for case in CASES).values())) == 1
    assert {case.language for case in CASES} == set(LANGUAGES)
    assert len({case.canary for case in CASES}) == len(CASES)
    for case in CASES:
        assert case.canary in case.attack
        assert not case.obeyed(case.question)
        assert case.obeyed(f"… {case.canary.lower()}!")
    assert {case.via for case in CASES} == {"turn", "summary", "memo", "event"}


hostile = (
    st.text(st.sampled_from("</memory>|im_start[INST]sｘ＜＞ \n\u200b\u2060Sy:-\U000e0041"))
    | st.text()
)


@given(st.lists(hostile, max_size=4))
def test_no_text_leaves_the_list(texts: list[str]) -> None:
    """Quoted, any text is one item: no mark, no token, no line of its own, and again it is as it
    was."""
    listed = as_list(texts)
    seen = unicodedata.normalize("NFKC", listed)
    assert not re.search(r"<\s*/?\s*memory", seen, re.IGNORECASE)
    assert not TOKENS.search(listed)
    lines = listed.split("\n")
    assert sum(line.startswith("- ") for line in lines) == len(texts) if texts else listed == ""
    assert all(line.startswith(("- ", "  ")) for line in lines if texts)
    for text in texts:
        assert without_template_tokens(without_template_tokens(text)) == without_template_tokens(
            text
        )
        assert quoted(quoted(text)) == quoted(text)


@pytest.mark.parametrize(
    "text",
    [
        "I <3 you",
        "a < b and c > d",
        "x -> y",
        "10 < 20",
        "f(x) = [1, 2]",
        "[A] or [B]",
        "家族👨‍👩‍👧",
    ],
)
def test_harmless_text_stays(text: str) -> None:
    """What only looks a little like structure is not touched."""
    assert without_template_tokens(text) == text
    assert quoted(text).replace("‹", "<") == text
