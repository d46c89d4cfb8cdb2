"""Replies that rest on memory, in the form `small`: what is remembered stands between marks, and
beside what fits stands what does not.

From real dialogue: turns that do use a fact which the lines shown do not hold, turns that use none
of those at hand, and, after paper C, turns that rest on one of several memos. From our own scenes:
the same in five languages.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import Kind, Owner, Speaker
from omoide.language import detect, split_sentences
from omoide.memory.mechanism import Contribution, Moment, Place
from omoide.memory.replies import small
from omoide.memory.summary.facts import Fact
from omoide.memory.transcript import Line
from omoide.tuning.examples import Example
from omoide.tuning.stems import stems
from omoide.tuning.tasks.naming import summary, topic
from omoide.tuning.told import START, turns
from omoide.tuning.written import planted, scenes

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from omoide.ports import Message
    from omoide.tuning.told import Told

SCENES = "scenes"
"""The source of what we wrote ourselves."""
MEMOS = 0.25
"""Share of the grounded turns whose memory is memos; all of them after the paper."""
ASSISTED = 2
"""Turns of an assistant that are taken of one talk."""
NONE = 0.15
"""Share of the fitting turns that use nothing which are taken."""


def replies(
    told: Told, others: Sequence[Told], dice: random.Random, *, order: float, paper: bool
) -> Iterator[Example]:
    """Turns of the talk as replies, read with either speaker as the user. `others` give decoys
    and, after the paper, history; a share `order` has an order planted in it."""
    if told.assisted:
        yield from _assisted(told, others, dice, order=order)
        return
    if told.cues or told.chain:
        yield from _cued(told, dice, order=order)
        return
    for one in (told, _turned(told)):
        for i in range(1, len(one.lines)):
            if one.lines[i].speaker is Speaker.USER or one.lines[i - 1].speaker is not Speaker.USER:
                continue
            first = max(0, i - dice.choice((1, 1, 2, 3, 4)))
            while one.lines[first].speaker is not Speaker.USER:
                first += 1
            yield from _turn(one, first, i, others, dice, order=order, paper=paper)


def _cued(told: Told, dice: random.Random, *, order: float) -> Iterator[Example]:
    """The moments of an invented talk: the fact that shows in the reply first, decoys after it."""
    for cue in told.cues:
        first = max(0, cue.at - dice.choice((0, 0, 2, 4)))
        while told.lines[first].speaker is not Speaker.USER:
            first += 1
        shown: Sequence[Line] = told.lines[first : cue.at + 1]
        facts = [Fact(about=who, text=text) for who, text in cue.facts]
        memory = _sentences(facts[: cue.fits], facts[cue.fits :][:8], told.language, dice)
        hard = ["" if cue.fits else "nothing"]
        if dice.random() < order:
            shown, memory = _ordered(shown, memory, told.language, dice)
            hard.append("injected")
        messages = asked_reply(shown, memory, told.language, dice)
        yield told.example("reply", messages, cue.reply, *hard)


def _assisted(
    told: Told, others: Sequence[Told], dice: random.Random, *, order: float
) -> Iterator[Example]:
    """Some of the assistant's turns, among notes that have nothing to do with them."""
    places = [
        i
        for i in range(1, len(told.lines))
        if told.lines[i].speaker is Speaker.ASSISTANT and fitting(told.lines[i].text, told.language)
    ]
    for i in sorted(dice.sample(places, min(ASSISTED, len(places)))):
        reply, shown = told.lines[i].text, told.lines[:i]
        far = [f for other in dice.sample(others, min(6, len(others))) for f in other.of()[:1]]
        decoys = [fact for fact in far if other_matter(fact, reply, shown)]
        memory = _sentences((), decoys[: dice.randint(0, 4)], told.language, dice)
        hard = ["nothing"]
        if dice.random() < order:
            shown, memory = _ordered(shown, memory, told.language, dice)
            hard.append("injected")
        yield told.example("reply", asked_reply(shown, memory, told.language, dice), reply, *hard)


def _turn(
    told: Told,
    first: int,
    last: int,
    others: Sequence[Told],
    dice: random.Random,
    *,
    order: float,
    paper: bool,
) -> Iterator[Example]:
    reply, shown = told.lines[last].text, told.lines[first:last]
    if not fitting(reply, told.language):
        return
    heard = stems(" ".join(line.text for line in shown))
    known = [fact for at, fact in told.facts if at < first or fact.about is Speaker.ASSISTANT]
    used = [fact for fact in known if uses(reply, fact, heard)]
    if used and not answers(reply, shown[-1].text):
        return
    if used:
        decoys = [fact for fact in known if fact not in used and not touches(reply, fact)]
    else:
        decoys = [fact for fact in known if not touches(reply, fact)]
        if len(decoys) < max(len(known), 1) or _TELLS.search(reply) or dice.random() >= NONE:
            return  # it may rest on something, or says what nobody knows
        if len(stems(reply)) < 3 or not stems(reply) & stems(shown[-1].text):
            return  # it says nothing to what was said
    far = [f for other in dice.sample(others, min(4, len(others))) for f in other.of()[:2]]
    decoys += [fact for fact in far if other_matter(fact, reply, shown)]
    memory: list[Contribution] = []
    if used and others and (paper or dice.random() < MEMOS):
        memory = _memos(told, used, others, reply, dice)
        if paper:
            past = [line for other in dice.sample(others, min(4, len(others)))
                    for line in other.lines[:8]]  # fmt: skip
            shown = (*past, *shown)
    memory = memory or _sentences(used, decoys[:8], told.language, dice)
    hard = ""
    if dice.random() < order:
        shown, memory = _ordered(shown, memory, told.language, dice)
        hard = "injected"
    messages = asked_reply(shown, memory, told.language, dice)
    yield told.example("reply", messages, reply, hard, "" if used else "nothing")


def from_scenes(dice: random.Random, *, times: int, order: float) -> Iterator[Example]:
    """Our own scenes, each `times` times with other decoys around it."""
    for language in ("en", "zh", "ja", "ko", "vi"):
        every = scenes(language)
        for scene in every * times:
            about = stems(scene.said + " " + scene.reply)
            far = [
                other
                for other in every
                if other.fact and other.key != scene.key
                and len(stems(other.fact) & about) <= (1 if language in ("en", "vi") else 2)
            ]  # fmt: skip
            dice.shuffle(far)
            far = list({other.key: other for other in far}.values())
            decoys = [other.fact for other in far[: dice.randint(1, 6)]]
            shown: Sequence[Line] = [Line(speaker=Speaker.USER, text=scene.said)]
            if dice.random() < 0.4:
                before = dice.choice([one for one in every if not one.fact and one != scene])
                shown = [
                    Line(speaker=Speaker.USER, text=before.said),
                    Line(speaker=Speaker.ASSISTANT, text=before.reply),
                    *shown,
                ]
            memory = _placed([scene.fact] if scene.fact else [], decoys, dice)
            hard = ["" if scene.fact else "nothing"]
            if dice.random() < order:
                shown, memory = _ordered(shown, memory, language, dice)
                hard.append("injected")
            yield Example(
                task="reply",
                language=language,
                source=SCENES,
                key=scene.key,
                messages=asked_reply(shown, memory, language, dice),
                answer=scene.reply,
                hard=" ".join(kind for kind in hard if kind),
            )


# ── What makes a reply ──────────────────────────────────────────────────────────────────────

_TELLS = re.compile(
    r"\b(?:i|i'm|i've|i'd|my|we|our)\b|[我私僕俺]|\b(?:tôi|mình)\b|저는|제가|나는|내가", re.I
)
_OFFERS = re.compile(
    r"\b(?:help you|assist|can i help|how can i|let me know if|anything else|happy to help|"
    r"nice (?:talking|chatting|to meet|meeting)|bye|take care|have a (?:great|good|nice)|"
    r"see you|talk to you|you're welcome|user \d)\b|^(?:hi|hello|hey)\b"
    r"|帮(?:助|您|你)|再见|不客气|お手伝い|さようなら|失礼し|도와|안녕히|giúp bạn|tạm biệt",
    re.I,
)


def fitting(reply: str, language: str) -> bool:
    """Whether it is a reply as they are wanted: one to three sentences, no greeting, no farewell,
    no offer of help, in the language."""
    return (
        len(split_sentences(reply)) <= 3
        and 12 <= len(reply) * (2 if language in ("zh", "ja", "ko") else 1) <= 320
        and not _OFFERS.search(reply)
        and detect(reply, default=language) == language
    )


def uses(reply: str, fact: Fact, heard: frozenset[str]) -> bool:
    """Whether a reply rests on a fact: it has half of its words, at least two of them, and one
    that nothing shown has."""
    wanted = stems(fact.text)
    both = wanted & stems(reply)
    return len(both) >= 2 and 2 * len(both) >= len(wanted) and not both <= heard


_OPEN = re.compile(r"for fun|for a living|for work|hobb|spare time|free time|about yourself", re.I)


def answers(reply: str, said: str) -> bool:
    """Whether a reply belongs to what was just said: an open question, or one it takes up. What
    stood between the two may have been cut."""
    asked = said.rstrip().endswith(("?", "？"))
    both = stems(reply) & stems(said) - {"i", "you", "my", "your", "what", "so", "oh", "me"}
    return asked and bool(both or _OPEN.search(said))


def touches(reply: str, fact: Fact) -> bool:
    """Whether a reply has any of a fact's words."""
    return bool(stems(fact.text) & stems(reply))


def other_matter(fact: Fact, reply: str, shown: Sequence[Line]) -> bool:
    """Whether a fact of another talk can stand beside these lines without being meant."""
    said = stems(" ".join((reply, *(line.text for line in shown))))
    return fact.about is Speaker.USER and not stems(fact.text) & said


def _turned(told: Told) -> Told:
    """The same talk with the speakers' parts exchanged."""
    other = {Speaker.USER: Speaker.ASSISTANT, Speaker.ASSISTANT: Speaker.USER}
    return replace(
        told,
        lines=tuple(replace(line, speaker=other[line.speaker]) for line in told.lines),
        facts=tuple((i, replace(fact, about=other[fact.about])) for i, fact in told.facts),
    )


# ── What is remembered ──────────────────────────────────────────────────────────────────────


def _sentences(
    used: Sequence[Fact], decoys: Sequence[Fact], language: str, dice: random.Random
) -> list[Contribution]:
    """Facts about the assistant stand in the memory alone: what is recalled is called notes about
    the user."""
    own = [f.sentence(language) for f in (*used, *decoys) if f.about is Speaker.ASSISTANT]
    right = [fact.sentence(language) for fact in used if fact.about is Speaker.USER]
    wrong = [fact.sentence(language) for fact in decoys if fact.about is Speaker.USER]
    dice.shuffle(own)
    return [*(contribution(text, Place.MEMORY) for text in own), *_placed(right, wrong, dice)]


def _placed(right: Sequence[str], wrong: Sequence[str], dice: random.Random) -> list[Contribution]:
    """What fits stands in the memory, or was recalled, or both; decoys with it."""
    where = dice.choice(("memory", "recalled", "both"))
    standing = [*wrong, *(right if where != "recalled" else ())]
    dice.shuffle(standing)
    came = [*wrong[: dice.randint(0, 2)], *(right if where != "memory" else ())]
    dice.shuffle(came)
    if where == "recalled" and dice.random() < 0.3:
        standing = []
    return [
        *(contribution(text, Place.MEMORY) for text in standing),
        *(contribution(text, Place.RECALLED) for text in came),
    ]


def _memos(
    told: Told, used: Sequence[Fact], others: Sequence[Told], reply: str, dice: random.Random
) -> list[Contribution]:
    """Three memos, the facts in one of them."""
    right = f"{topic(used, told.language)}: {summary(used, told.language)}"
    shown = [right]
    for other in dice.sample(others, min(6, len(others))):
        facts = other.of()[:3]
        if len(shown) < 3 and facts and not any(touches(reply, fact) for fact in facts):
            named = topic(facts, told.language)
            shown.append(f"{named}: {summary(facts, told.language)}")
    dice.shuffle(shown)
    return [contribution(text, Place.RECALLED) for text in shown] if len(shown) == 3 else []


def _ordered(
    shown: Sequence[Line], memory: Sequence[Contribution], language: str, dice: random.Random
) -> tuple[tuple[Line, ...], list[Contribution]]:
    """An order among what was said before, or among what is remembered."""
    if len(shown) > 1 and dice.random() < 0.4:
        said = dice.choice(planted(language, "said"))
        join = "" if language in ("zh", "ja") else " "
        first = replace(shown[0], text=f"{shown[0].text}{join}{said}")
        return (first, *shown[1:]), list(memory)
    place = Place.RECALLED if dice.random() < 0.6 else Place.MEMORY
    note = contribution(dice.choice(planted(language, "memory")), place)
    mixed = list(memory)
    mixed.insert(dice.randrange(len(mixed) + 1), note)
    return tuple(shown), mixed


def contribution(text: str, place: Place) -> Contribution:
    """Something remembered, at a place in the prompt."""
    return Contribution(
        mechanism="", place=place, kind=Kind.EVENT, id=text, text=text, value=1.0, sources=(),
        time=START, why="",
    )  # fmt: skip


def asked_reply(
    shown: Sequence[Line], memory: Sequence[Contribution], language: str, dice: random.Random
) -> tuple[Message, ...]:
    """The product's own request, on some day."""
    now = START + timedelta(days=dice.randrange(600), hours=dice.randrange(14))
    session = turns(shown, language)
    owner = Owner(tenant="", user="")
    moment = Moment(owner=owner, text=shown[-1].text, session=session, now=now, language=language)
    return small(moment, memory, window=8192, max_tokens=300).messages
