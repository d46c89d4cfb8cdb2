"""The prompt of a reply: the memory, what came to mind, and the session so far.

`paper` is Wang et al. 2023, Table 2: r_t = LLM(C_t, M_N) in one message of five steps; appendix B
has its baselines: `retrieval`, `retrieval+memory`, and worked examples before the case. `chat`
keeps the session as chat messages after a system message that stays the same all session long,
so that a model's prefix cache is hit at each turn; what came to mind goes with the last message.
`agent` is the same with the prompt of Hou et al. 2024: a persona with a sense of time. `small` is
`chat` with worked examples in front: handed a fact, a model of 1.5 B parameters uses it far more
often when it has seen how (docs/LOG.md has the figures).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING, Protocol

from omoide.domain import Kind, Speaker
from omoide.language import estimate_tokens
from omoide.language.asking import asks_of_oneself
from omoide.memory.events.human_time import today
from omoide.memory.mechanism import Place
from omoide.memory.transcript import lines, spoken
from omoide.ports import Message, Request, Skill
from omoide.prompts import render, words
from omoide.prompts.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Turn
    from omoide.memory.mechanism import Contribution, Moment


class ReplyForm(Protocol):
    """A way of asking for a reply."""

    def __call__(
        self,
        moment: Moment,
        contributions: Sequence[Contribution],
        *,
        window: int,
        max_tokens: int,
    ) -> Request:
        """The request for the reply to the session's last turn."""


def paper(
    moment: Moment, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """The paper's prompt; what was recalled stands with the memory (its retrieval + memory)."""
    known = "\n".join(_listed(contributions, Place.MEMORY) + _listed(contributions, Place.RECALLED))
    room = window - max_tokens - estimate_tokens(known) - 600
    dialogue = _dialogue(moment, room)
    memory = known or words(moment.language)["none"]
    prompt = render("reply_paper", moment.language, memory=memory, dialogue=dialogue)
    return Request(messages=prompt.messages, max_tokens=max_tokens, skill=Skill.REPLY)


def chat(
    moment: Moment, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """Chat messages behind a system message with the memory."""
    if moment.company.persona:
        return agent(moment, contributions, window=window, max_tokens=max_tokens)
    before = _friend("reply", moment, contributions)
    return _conversed(moment, contributions, before, window=window, max_tokens=max_tokens)


def small(
    moment: Moment, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """The same for small models, which learn from an example what they cannot be told."""
    if moment.company.persona:
        return agent(moment, contributions, window=window, max_tokens=max_tokens)
    return _conversed(
        moment,
        contributions,
        _friend("reply_small", moment, contributions),
        recalled="reply_small_recalled",
        window=window,
        max_tokens=max_tokens,
    )


def _friend(
    form: str, moment: Moment, contributions: Sequence[Contribution]
) -> tuple[Message, ...]:
    """What stands before the session: who an old friend is, and what it remembers."""
    language = moment.language
    known = _listed(contributions, Place.MEMORY)
    if name := called(moment, known):
        line = Template(words(language)["called"]).substitute(name=name)
        known = [line, *(text for text in known if text != line)]
    memory = "\n".join(known) or words(language)["none"]
    return render(form, language, memory=memory, now=today(moment.now, language)).messages


def agent(
    moment: Moment, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """Chat messages behind the system message of Hou et al. 2024: who the assistant is, whom it
    knows, what day and what part of the day it is."""
    language = moment.language
    known = _listed(contributions, Place.MEMORY)
    system = render(
        "event_agent",
        language,
        persona=quoted(moment.company.persona) or words(language)["friend"],
        user=called(moment, known) or words(language)["user"],
        now=today(moment.now, language),
        memory="\n".join(known) or words(language)["none"],
    ).messages
    return _conversed(moment, contributions, system, window=window, max_tokens=max_tokens)


def _conversed(
    moment: Moment,
    contributions: Sequence[Contribution],
    before: tuple[Message, ...],
    *,
    window: int,
    max_tokens: int,
    recalled: str = "reply_recalled",
) -> Request:
    """The session as messages behind those `before` it, what came to mind with the last."""
    asked = spoken(moment.session[-1])
    last = Message(role="user", content=asked)
    if came := _listed(_distinct(contributions), Place.RECALLED):
        notes = "\n".join(f"- {text}" for text in came)
        (last,) = render(recalled, moment.language, recalled=notes, text=last.content).messages
    fixed = sum(estimate_tokens(message.content) for message in (*before, last))
    earlier = latest(moment.session[:-1], window - max_tokens - fixed - 100)
    said = tuple(
        Message(role=turn.speaker.value, content=spoken(turn)) for turn in earlier if spoken(turn)
    )
    return Request(
        messages=(*before, *said, last),
        max_tokens=max_tokens,
        frequency_penalty=PENALTY,
        skill=Skill.ANSWER if asks_of_oneself(asked, moment.language) else Skill.REPLY,
    )


def _distinct(contributions: Sequence[Contribution]) -> list[Contribution]:
    """All but the turns that a sentence which is shown with them rests on: it says the same."""
    shown = {
        source
        for c in contributions
        if c.place is Place.RECALLED and c.kind is Kind.SENTENCE
        for source in c.sources
    }
    return [c for c in contributions if c.kind is not Kind.TURN or shown.isdisjoint(c.sources)]


PENALTY = 0.4
"""Small models at temperature 0 fall into loops ("rice cakes" ninety times) without one."""
_LOOP = re.compile(r"(.{6,80}?)\1{3}$", re.DOTALL)


def looping(text: str) -> bool:
    """Whether a reply has begun to say the same thing over and over."""
    return _LOOP.search(text[-400:]) is not None


def retrieval(
    moment: Moment, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """The paper's baseline: utterances that were found, and the dialogue."""
    found = _listed(contributions, Place.MEMORY) + _listed(contributions, Place.RECALLED)
    retrieved = "\n".join(found) or words(moment.language)["none"]
    dialogue = _dialogue(moment, window - max_tokens - estimate_tokens(retrieved) - 500)
    prompt = render("reply_retrieval", moment.language, retrieved=retrieved, dialogue=dialogue)
    return Request(messages=prompt.messages, max_tokens=max_tokens, skill=Skill.REPLY)


def retrieval_and_memory(
    moment: Moment, contributions: Sequence[Contribution], *, window: int, max_tokens: int
) -> Request:
    """The paper's combination: the memory, utterances that were found, and the dialogue."""
    none = words(moment.language)["none"]
    memory = "\n".join(_listed(contributions, Place.MEMORY)) or none
    retrieved = "\n".join(_listed(contributions, Place.RECALLED)) or none
    taken = estimate_tokens(memory) + estimate_tokens(retrieved)
    prompt = render(
        "reply_retrieval_memory",
        moment.language,
        memory=memory,
        retrieved=retrieved,
        dialogue=_dialogue(moment, window - max_tokens - taken - 600),
    )
    return Request(messages=prompt.messages, max_tokens=max_tokens, skill=Skill.REPLY)


@dataclass(frozen=True, kw_only=True)
class Shot:
    """A worked example: what was known, what was said, and the reply that was right."""

    memory: str
    dialogue: str
    reply: str


@dataclass(frozen=True, kw_only=True)
class Shots:
    """The paper's prompt behind k worked examples (its Table 7). `given` are the examples of a
    benchmark; ours, three a language, if there are none."""

    k: int
    given: tuple[Shot, ...] = ()

    def __call__(
        self,
        moment: Moment,
        contributions: Sequence[Contribution],
        *,
        window: int,
        max_tokens: int,
    ) -> Request:
        """The examples, then the case."""
        language = moment.language
        shots = (self.given or shipped(language))[: self.k]
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
        known = _listed(contributions, Place.MEMORY) + _listed(contributions, Place.RECALLED)
        memory = "\n".join(known) or words(language)["none"]
        taken = estimate_tokens(memory) + estimate_tokens(examples)
        prompt = render(
            "reply_shots",
            language,
            examples=examples,
            memory=memory,
            dialogue=_dialogue(moment, window - max_tokens - taken - 400),
        )
        return Request(messages=prompt.messages, max_tokens=max_tokens, skill=Skill.REPLY)


def shipped(language: str) -> tuple[Shot, ...]:
    """Our own worked examples."""
    parts = [message.content for message in render("shots", language).messages]
    triples = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return tuple(Shot(memory=m, dialogue=d, reply=r) for m, d, r in triples)


FORMS: dict[str, ReplyForm] = {
    "chat": chat,
    "small": small,
    "agent": agent,
    "paper": paper,
    "retrieval": retrieval,
    "retrieval+memory": retrieval_and_memory,
    "2-shot": Shots(k=2),
    "3-shot": Shots(k=3),
}


def called(moment: Moment, known: Sequence[str]) -> str:
    """What the user is called: by their turns, by the settings, or by what is remembered."""
    named = [t.name for t in moment.session if t.speaker is Speaker.USER and t.name]
    if given := (*named[::-1], moment.company.called)[0]:
        return " ".join(quoted(given).split())[:60]
    for text in reversed(known):
        if found := _CALLED.search(text):
            return next(name for name in found.groups() if name).strip()
    return ""


_CALLED = re.compile(
    r"User(?:'s)? (?:full |first )?name is ([A-Z][\w'-]+(?: [A-Z][\w'-]+)?)"
    r"|User is (?:called|named) ([A-Z][\w'-]+(?: [A-Z][\w'-]+)?)"
    r"|用户(?:的名字)?(?:叫|名叫|是叫|名字是|的姓名是|的名字是)([\w·]{1,12}?)(?=[，。；、]|$)"
    r"|ユーザーの名前は([\w・]{1,16}?)(?:です|だ|である)?(?=[、。；]|$)"
    r"|ユーザーは([\w・]{1,16}?)という名前"
    r"|사용자(?:의 이름은|는 이름이) ([\w]{1,12}?)(?:이다|다|입니다)?(?=[.,;]|$)"
    r"|사용자는 ([\w]{1,12}?)(?:이)?라는 이름"
    r"|Người dùng (?:có )?tên (?:là )?([A-ZÀ-Ỹ][\w]+(?: [A-ZÀ-Ỹ][\w]+){0,3})"
)
"""How a memory says what the user is called."""


def _dialogue(moment: Moment, room: int) -> str:
    said = lines(latest(moment.session, room))
    return "\n".join(line.labelled(moment.language) for line in said)


def _listed(contributions: Sequence[Contribution], place: Place) -> list[str]:
    """The texts for that place, unable to close the marks they stand between."""
    return [quoted(c.text) for c in contributions if c.place is place]


def latest(turns: Sequence[Turn], room: int) -> list[Turn]:
    """As many of the latest turns as fit. What is left out here is still found by recall."""
    kept: list[Turn] = []
    for turn in reversed(turns):
        room -= estimate_tokens(turn.text) + 8
        if room < 0:
            break
        kept.append(turn)
    return kept[::-1]
