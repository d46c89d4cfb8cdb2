"""The prompt of a reply: the memory, what was recalled, and the session so far.

`paper` is Wang et al. 2023, Table 2: r_t = LLM(C_t, M_N) in one message of five steps; appendix B
has its baselines: `context`, `retrieval`, `retrieval+memory`, and worked examples before the case.
`chat`
sends the session as chat messages after a system message that does not change during a session,
so that every turn hits the model's prefix cache; what was recalled goes with the last message.
`agent` is the same with the prompt of Hou et al. 2024: a persona with a sense of time;
`agent+clock` has the time to the minute. `small` is
`chat` with worked examples in front: a model of 1.5 B parameters uses a given fact far more often
after it has seen how (figures: docs/experiments/*-replies-by-example.md). They come before the
memory, so that every user's prompt begins alike and the model's state after them can be kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from string import Template
from typing import TYPE_CHECKING, Protocol

from omoide.claims.names import name_in
from omoide.domain import MemoryKind, Speaker
from omoide.language import estimate_tokens
from omoide.language.asking import asks_about_oneself
from omoide.mechanisms.base import PromptPlace
from omoide.mechanisms.events.human_time import present, today
from omoide.mechanisms.memory_parts import in_parts
from omoide.mechanisms.reply_notes import GREETING, placed_notes
from omoide.ports import Message, Request, SharedStart, Skill
from omoide.prompts import render, shared_start, vocabulary
from omoide.prompts.quoting import quoted
from omoide.prompts.transcript import lines, spoken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Turn
    from omoide.mechanisms.base import Contribution, ReplyRequest


class ReplyForm(Protocol):
    """A way of asking for a reply."""

    def __call__(
        self,
        request: ReplyRequest,
        contributions: Sequence[Contribution],
        *,
        window: int,
        max_tokens: int,
    ) -> Request:
        """Build the request for a reply to the session's last turn."""


def paper_form(
    request: ReplyRequest, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """The paper's prompt; what was recalled is listed with the memory (retrieval + memory)."""
    known = "\n".join(_once(contributions))
    room = window - max_tokens - estimate_tokens(known) - 600
    dialogue = _dialogue(request, room)
    memory = known or vocabulary(request.language)["none"]
    prompt = render("reply_paper", request.language, memory=memory, dialogue=dialogue)
    return Request(messages=prompt.messages, max_tokens=max_tokens, skill=Skill.REPLY)


def chat_form(
    request: ReplyRequest, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """Chat messages after a system message with the memory."""
    if request.participants.persona:
        return agent_form(request, contributions, window=window, max_tokens=max_tokens)
    before = _friend("reply", request, contributions)
    return _as_chat(request, contributions, before, window=window, max_tokens=max_tokens)


def small_form(
    request: ReplyRequest, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """`chat_form` for small models, which follow examples better than instructions."""
    if request.participants.persona:
        return agent_form(request, contributions, window=window, max_tokens=max_tokens)
    before = _friend("reply_small", request, contributions)
    beside, placed = placed_notes(request, contributions)
    return _as_chat(
        request,
        placed,
        before,
        recalled=beside,
        window=window,
        max_tokens=max_tokens,
    )


@dataclass(frozen=True, kw_only=True)
class _Before:
    """The messages before the session, and how far they are the same for every user."""

    messages: tuple[Message, ...]
    fixed: int
    today: SharedStart = field(default_factory=SharedStart)


def _friend(form: str, request: ReplyRequest, contributions: Sequence[Contribution]) -> _Before:
    """The role of an old friend, and its memory."""
    language = request.language
    known, line = _listed(contributions, PromptPlace.MEMORY), ""
    if name := user_name(request, known):
        line = Template(vocabulary(language)["called"]).substitute(name=name)
        known = [line, *(text for text in known if text != line)]
    if form == "reply":  # a small model is not helped by headings
        rest = [c for c in contributions if quoted(c.text) != line]
        known = [*filter(None, (line,)), *in_parts(rest, language)]
    now, nothing = today(request.now, language), vocabulary(language)["none"]
    memory = "\n".join(known) or nothing
    # A text with the date and no word of the user's; if there is no memory yet, with that too.
    of_everybody = {"now": now} if known else {"now": now, "memory": nothing}
    return _Before(
        messages=render(form, language, memory=memory, now=now).messages,
        fixed=shared_start(form, language).messages,
        today=shared_start(form, language, **of_everybody),
    )


def agent_form(
    request: ReplyRequest, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """Chat messages after the system message of Hou et al. 2024: the persona, the user, the date
    and the part of the day."""
    return _agent(
        request,
        contributions,
        now=today(request.now, request.language),
        window=window,
        max_tokens=max_tokens,
    )


def clock_form(
    request: ReplyRequest, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """`agent_form` with the time of day to the minute, as in the paper. The beginning of the
    prompt then changes with every message, so that it is never cached."""
    return _agent(
        request,
        contributions,
        now=present(request.now, request.language),
        window=window,
        max_tokens=max_tokens,
    )


def _agent(
    request: ReplyRequest,
    contributions: Sequence[Contribution],
    *,
    now: str,
    window: int,
    max_tokens: int,
) -> Request:
    language = request.language
    known = _listed(contributions, PromptPlace.MEMORY)
    system = render(
        "event_agent",
        language,
        persona=quoted(request.participants.persona) or vocabulary(language)["friend"],
        user=user_name(request, known) or vocabulary(language)["user"],
        now=now,
        memory="\n".join(known) or vocabulary(language)["none"],
    )
    before = _Before(messages=system.messages, fixed=0)
    return _as_chat(request, contributions, before, window=window, max_tokens=max_tokens)


def _as_chat(
    request: ReplyRequest,
    contributions: Sequence[Contribution],
    before: _Before,
    *,
    window: int,
    max_tokens: int,
    recalled: str = "reply_recalled",
) -> Request:
    """The messages `before`, then the session; what was recalled goes with the last message, which
    may have a worked example of its own before it."""
    asked = spoken(request.session[-1])
    shown: tuple[Message, ...] = (Message(role="user", content=asked),)
    if recalled_texts := _listed(contributions, PromptPlace.RECALLED):
        notes = "\n".join(f"- {text}" for text in recalled_texts)
        shown = render(recalled, request.language, recalled=notes, text=asked).messages
    fixed = sum(estimate_tokens(message.content) for message in (*before.messages, *shown))
    earlier = latest_that_fit(request.session[:-1], window - max_tokens - fixed - 100)
    history = tuple(
        Message(role=turn.speaker.value, content=spoken(turn)) for turn in earlier if spoken(turn)
    )
    return Request(
        messages=(*before.messages, *history, *shown),
        max_tokens=max_tokens,
        frequency_penalty=PENALTY,
        skill=_skill(asked, request.language, recalled),
        language=request.language,
        fixed=before.fixed,
        today=before.today,
    )


def _skill(asked: str, language: str, recalled: str) -> Skill:
    """The skill that a reply needs."""
    if recalled == GREETING:
        return Skill.GREETING
    return Skill.ANSWER if asks_about_oneself(asked, language) else Skill.REPLY


PENALTY = 0.4
"""Without a penalty, small models at temperature 0 fall into loops ("rice cakes" ninety times)."""


def without_penalty(form: ReplyForm) -> ReplyForm:
    """The form for a large model, which does not loop: a penalty only keeps it from words that it
    needs again, such as a name or the bars of a table."""

    def unpenalised(
        request: ReplyRequest,
        contributions: Sequence[Contribution],
        *,
        window: int,
        max_tokens: int,
    ) -> Request:
        asked = form(request, contributions, window=window, max_tokens=max_tokens)
        return replace(asked, frequency_penalty=0.0)

    return unpenalised


REPEATED = range(6, 81)
"""The lengths of what may be repeated, in characters."""


def is_looping(text: str) -> bool:
    """Whether a reply has begun to repeat itself endlessly: it ends with the same run of text four
    times. A run without a letter is indentation, a line, or the second row of a table.

    >>> is_looping("I like" + " rice cakes," * 4), is_looping("| --- " * 5 + "|")
    (True, False)
    """
    runs = (text[-length:] for length in REPEATED)
    return any(text.endswith(run * 4) and any(map(str.isalpha, run)) for run in runs)


def context_form(
    request: ReplyRequest, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """The paper's context-only baseline: the earlier sessions and the dialogue."""
    history = "\n".join(_once(contributions)) or vocabulary(request.language)["none"]
    dialogue = _dialogue(request, window - max_tokens - estimate_tokens(history) - 300)
    prompt = render("reply_context", request.language, history=history, dialogue=dialogue)
    return Request(messages=prompt.messages, max_tokens=max_tokens, skill=Skill.REPLY)


def retrieval_form(
    request: ReplyRequest, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """The paper's baseline: retrieved utterances and the dialogue."""
    retrieved = "\n".join(_once(contributions)) or vocabulary(request.language)["none"]
    dialogue = _dialogue(request, window - max_tokens - estimate_tokens(retrieved) - 500)
    prompt = render("reply_retrieval", request.language, retrieved=retrieved, dialogue=dialogue)
    return Request(messages=prompt.messages, max_tokens=max_tokens, skill=Skill.REPLY)


def retrieval_and_memory_form(
    request: ReplyRequest, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """The paper's combination: retrieved utterances, or all there are, the memory and the
    dialogue."""
    none = vocabulary(request.language)["none"]
    known = _listed([c for c in contributions if c.kind is not MemoryKind.TURN], PromptPlace.MEMORY)
    memory = "\n".join(known) or none
    retrieved = "\n".join(text for text in _once(contributions) if text not in known) or none
    taken = estimate_tokens(memory) + estimate_tokens(retrieved)
    prompt = render(
        "reply_retrieval_memory",
        request.language,
        memory=memory,
        retrieved=retrieved,
        dialogue=_dialogue(request, window - max_tokens - taken - 600),
    )
    return Request(messages=prompt.messages, max_tokens=max_tokens, skill=Skill.REPLY)


@dataclass(frozen=True, kw_only=True)
class WorkedExample:
    """A worked example: the memory, the dialogue and the right reply."""

    memory: str
    dialogue: str
    reply: str


@dataclass(frozen=True, kw_only=True)
class FewShotForm:
    """The paper's prompt after k worked examples (its Table 7). `given` are a benchmark's
    examples; if empty, ours are used, three a language."""

    k: int
    given: tuple[WorkedExample, ...] = ()

    def __call__(
        self,
        request: ReplyRequest,
        contributions: Sequence[Contribution],
        *,
        window: int,
        max_tokens: int,
    ) -> Request:
        """The examples, then the case."""
        language = request.language
        shots = (self.given or own_examples(language))[: self.k]
        examples = "\n\n".join(
            message.content
            for shot in shots
            for message in render(
                "reply_shot",
                language,
                memory=shot.memory,
                dialogue=shot.dialogue,
                reply=shot.reply,
            ).messages
        )
        memory = "\n".join(_once(contributions)) or vocabulary(language)["none"]
        taken = estimate_tokens(memory) + estimate_tokens(examples)
        prompt = render(
            "reply_shots",
            language,
            examples=examples,
            memory=memory,
            dialogue=_dialogue(request, window - max_tokens - taken - 400),
        )
        return Request(messages=prompt.messages, max_tokens=max_tokens, skill=Skill.REPLY)


def own_examples(language: str) -> tuple[WorkedExample, ...]:
    """Our own worked examples."""
    parts = [message.content for message in render("shots", language).messages]
    triples = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return tuple(WorkedExample(memory=m, dialogue=d, reply=r) for m, d, r in triples)


FORMS: dict[str, ReplyForm] = {
    "chat": chat_form,
    "small": small_form,
    "agent": agent_form,
    "agent+clock": clock_form,
    "paper": paper_form,
    "context": context_form,
    "retrieval": retrieval_form,
    "retrieval+memory": retrieval_and_memory_form,
    "2-shot": FewShotForm(k=2),
    "3-shot": FewShotForm(k=3),
}


def user_name(request: ReplyRequest, known: Sequence[str]) -> str:
    """The user's name: from their turns, the settings or the memory, in this order."""
    by_turn = [t.name for t in request.session if t.speaker is Speaker.USER and t.name]
    if name := (*by_turn[::-1], request.participants.user_name)[0]:
        return " ".join(quoted(name).split())[:60]
    return next((name for text in reversed(known) if (name := name_in(text, request.language))), "")


def _dialogue(request: ReplyRequest, room: int) -> str:
    """As much of the session as fits, and its last turn in any case."""
    *earlier, last = request.session
    left = room - estimate_tokens(last.text) - 8
    shown = lines([*latest_that_fit(earlier, left), last])
    return "\n".join(line.labelled(request.language) for line in shown)


def _listed(contributions: Sequence[Contribution], place: PromptPlace) -> list[str]:
    """The texts for that place, quoted so that they cannot close the marks around them."""
    return [quoted(c.text) for c in contributions if c.place is place]


def _once(contributions: Sequence[Contribution]) -> list[str]:
    """The memory, then what was recalled, without sentences of the memory that are repeated next
    to the message: the paper's prompts show the memory once."""
    known = _listed(contributions, PromptPlace.MEMORY)
    recalled = _listed(contributions, PromptPlace.RECALLED)
    return [*known, *(text for text in recalled if text not in known)]


def latest_that_fit(turns: Sequence[Turn], room: int) -> list[Turn]:
    """As many of the latest turns as fit. Recall can still find those left out here."""
    kept: list[Turn] = []
    for turn in reversed(turns):
        room -= estimate_tokens(turn.text) + 8
        if room < 0:
            break
        kept.append(turn)
    return kept[::-1]
