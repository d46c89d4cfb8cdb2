"""Replies based on memory, in the form `small`: remembered items are in a marked section, relevant
ones next to irrelevant ones.

From real dialogue: turns that use a fact which the visible lines do not contain, turns that use
none of the known facts, and, after paper C, turns based on one of several memos. From our own
scenes: the same in five languages.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.claims import NotedFact
from omoide.domain import MemoryKind, Owner, Speaker
from omoide.language import detect_language, split_sentences
from omoide.mechanisms import REPLY_FORMS, Contribution, Line, PromptPlace, ReplyRequest
from omoide_tune.checked_talks import START, turns
from omoide_tune.examples import Example
from omoide_tune.stem_cache import stems
from omoide_tune.tasks.naming import summary, topic
from omoide_tune.written import planted, scenes

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from omoide.ports import Message
    from omoide_tune.checked_talks import CheckedTalk

SCENES = "scenes"
"""The source name of our own scenes."""
MEMOS = 0.25
"""Share of the grounded turns whose memory is memos; in the paper's setting all of them."""
ASSISTED = 2
"""Maximum turns of an assistant used from one talk."""
NONE = 0.15
"""Share used of the fitting turns that use no fact."""


def replies(
    checked: CheckedTalk,
    others: Sequence[CheckedTalk],
    dice: random.Random,
    *,
    order: float,
    paper: bool,
) -> Iterator[Example]:
    """Turns of the talk as replies, with either speaker as the user. `others` provide decoys
    and, in the paper's setting, history; a share `order` has a planted instruction."""
    if checked.assisted:
        yield from _assisted(checked, others, dice, order=order)
        return
    if checked.cues or checked.chain:
        yield from _cued(checked, dice, order=order)
        return
    for one in (checked, _turned(checked)):
        for i in range(1, len(one.lines)):
            if one.lines[i].speaker is Speaker.USER or one.lines[i - 1].speaker is not Speaker.USER:
                continue
            first = max(0, i - dice.choice((1, 1, 2, 3, 4)))
            while one.lines[first].speaker is not Speaker.USER:
                first += 1
            yield from _turn(one, first, i, others, dice, order=order, paper=paper)


def _cued(checked: CheckedTalk, dice: random.Random, *, order: float) -> Iterator[Example]:
    """The cues of a generated talk: first the fact that the reply uses, then decoys."""
    for cue in checked.cues:
        first = max(0, cue.at - dice.choice((0, 0, 2, 4)))
        while checked.lines[first].speaker is not Speaker.USER:
            first += 1
        shown: Sequence[Line] = checked.lines[first : cue.at + 1]
        facts = [NotedFact(about=who, text=text) for who, text in cue.facts]
        memory = _sentences(facts[: cue.fits], facts[cue.fits :][:8], checked.language, dice)
        hard = ["" if cue.fits else "nothing"]
        if dice.random() < order:
            shown, memory = _ordered(shown, memory, checked.language, dice)
            hard.append("injected")
        messages = asked_reply(shown, memory, checked.language, dice)
        yield checked.example("reply", messages, cue.reply, *hard)


def _assisted(
    checked: CheckedTalk, others: Sequence[CheckedTalk], dice: random.Random, *, order: float
) -> Iterator[Example]:
    """Some of the assistant's turns, among unrelated notes."""
    places = [
        i
        for i in range(1, len(checked.lines))
        if checked.lines[i].speaker is Speaker.ASSISTANT
        and fitting(checked.lines[i].text, checked.language)
    ]
    for i in sorted(dice.sample(places, min(ASSISTED, len(places)))):
        reply, shown = checked.lines[i].text, checked.lines[:i]
        far = [f for other in dice.sample(others, min(6, len(others))) for f in other.of()[:1]]
        decoys = [fact for fact in far if other_matter(fact, reply, shown)]
        memory = _sentences((), decoys[: dice.randint(0, 4)], checked.language, dice)
        hard = ["nothing"]
        if dice.random() < order:
            shown, memory = _ordered(shown, memory, checked.language, dice)
            hard.append("injected")
        yield checked.example(
            "reply", asked_reply(shown, memory, checked.language, dice), reply, *hard
        )


def _turn(
    checked: CheckedTalk,
    first: int,
    last: int,
    others: Sequence[CheckedTalk],
    dice: random.Random,
    *,
    order: float,
    paper: bool,
) -> Iterator[Example]:
    reply, shown = checked.lines[last].text, checked.lines[first:last]
    if not fitting(reply, checked.language):
        return
    heard = stems(" ".join(line.text for line in shown))
    known = [fact for at, fact in checked.facts if at < first or fact.about is Speaker.ASSISTANT]
    used = [fact for fact in known if uses(reply, fact, heard)]
    if used and not answers(reply, shown[-1].text):
        return
    if used:
        decoys = [fact for fact in known if fact not in used and not touches(reply, fact)]
    else:
        decoys = [fact for fact in known if not touches(reply, fact)]
        if len(decoys) < max(len(known), 1) or _FIRST_PERSON.search(reply) or dice.random() >= NONE:
            return  # it may depend on a fact, or says something unknown
        if len(stems(reply)) < 3 or not stems(reply) & stems(shown[-1].text):
            return  # it does not respond to the message
    far = [f for other in dice.sample(others, min(4, len(others))) for f in other.of()[:2]]
    decoys += [fact for fact in far if other_matter(fact, reply, shown)]
    memory: list[Contribution] = []
    if used and others and (paper or dice.random() < MEMOS):
        memory = _memos(checked, used, others, reply, dice)
        if paper:
            past = [line for other in dice.sample(others, min(4, len(others)))
                    for line in other.lines[:8]]  # fmt: skip
            shown = (*past, *shown)
    memory = memory or _sentences(used, decoys[:8], checked.language, dice)
    hard = ""
    if dice.random() < order:
        shown, memory = _ordered(shown, memory, checked.language, dice)
        hard = "injected"
    messages = asked_reply(shown, memory, checked.language, dice)
    yield checked.example("reply", messages, reply, hard, "" if used else "nothing")


def from_scenes(dice: random.Random, *, times: int, order: float) -> Iterator[Example]:
    """Our own scenes, each `times` times with different decoys."""
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


# ── Checks of a reply ───────────────────────────────────────────────────────────────────────

_FIRST_PERSON = re.compile(
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
    """Whether a reply has the wanted style: one to three sentences, no greeting, no farewell,
    no offer of help, in the language."""
    return (
        len(split_sentences(reply)) <= 3
        and 12 <= len(reply) * (2 if language in ("zh", "ja", "ko") else 1) <= 320
        and not _OFFERS.search(reply)
        and detect_language(reply, default=language) == language
    )


def uses(reply: str, fact: NotedFact, heard: frozenset[str]) -> bool:
    """Whether a reply uses a fact: it has half of the fact's words, at least two, and one
    that is not shown elsewhere."""
    wanted = stems(fact.text)
    both = wanted & stems(reply)
    return len(both) >= 2 and 2 * len(both) >= len(wanted) and not both <= heard


_OPEN = re.compile(r"for fun|for a living|for work|hobb|spare time|free time|about yourself", re.I)


def answers(reply: str, said: str) -> bool:
    """Whether a reply responds to the message: an open question, or one whose words it takes up.
    Lines between the two may have been cut."""
    asked = said.rstrip().endswith(("?", "？"))
    both = stems(reply) & stems(said) - {"i", "you", "my", "your", "what", "so", "oh", "me"}
    return asked and bool(both or _OPEN.search(said))


def touches(reply: str, fact: NotedFact) -> bool:
    """Whether a reply has any of a fact's words."""
    return bool(stems(fact.text) & stems(reply))


def other_matter(fact: NotedFact, reply: str, shown: Sequence[Line]) -> bool:
    """Whether a fact of another talk is unrelated to these lines and the reply."""
    said = stems(" ".join((reply, *(line.text for line in shown))))
    return fact.about is Speaker.USER and not stems(fact.text) & said


def _turned(checked: CheckedTalk) -> CheckedTalk:
    """The same talk with the speakers swapped."""
    other = {Speaker.USER: Speaker.ASSISTANT, Speaker.ASSISTANT: Speaker.USER}
    return replace(
        checked,
        lines=tuple(replace(line, speaker=other[line.speaker]) for line in checked.lines),
        facts=tuple((i, replace(fact, about=other[fact.about])) for i, fact in checked.facts),
    )


# ── Remembered items ────────────────────────────────────────────────────────────────────────


def _sentences(
    used: Sequence[NotedFact], decoys: Sequence[NotedFact], language: str, dice: random.Random
) -> list[Contribution]:
    """Facts about the assistant go into the memory only: recalled items are labelled as notes about
    the user."""
    own = [f.sentence(language) for f in (*used, *decoys) if f.about is Speaker.ASSISTANT]
    right = [fact.sentence(language) for fact in used if fact.about is Speaker.USER]
    wrong = [fact.sentence(language) for fact in decoys if fact.about is Speaker.USER]
    dice.shuffle(own)
    return [*(contribution(text, PromptPlace.MEMORY) for text in own), *_placed(right, wrong, dice)]


def _placed(right: Sequence[str], wrong: Sequence[str], dice: random.Random) -> list[Contribution]:
    """Relevant items in the memory, among the recalled ones, or in both; decoys with them."""
    where = dice.choice(("memory", "recalled", "both"))
    standing = [*wrong, *(right if where != "recalled" else ())]
    dice.shuffle(standing)
    came = [*wrong[: dice.randint(0, 2)], *(right if where != "memory" else ())]
    dice.shuffle(came)
    if where == "recalled" and dice.random() < 0.3:
        standing = []
    return [
        *(contribution(text, PromptPlace.MEMORY) for text in standing),
        *(contribution(text, PromptPlace.RECALLED) for text in came),
    ]


def _memos(
    checked: CheckedTalk,
    used: Sequence[NotedFact],
    others: Sequence[CheckedTalk],
    reply: str,
    dice: random.Random,
) -> list[Contribution]:
    """Three memos, one of them with the facts."""
    right = f"{topic(used, checked.language)}: {summary(used, checked.language)}"
    shown = [right]
    for other in dice.sample(others, min(6, len(others))):
        facts = other.of()[:3]
        if len(shown) < 3 and facts and not any(touches(reply, fact) for fact in facts):
            named = topic(facts, checked.language)
            shown.append(f"{named}: {summary(facts, checked.language)}")
    dice.shuffle(shown)
    return [contribution(text, PromptPlace.RECALLED) for text in shown] if len(shown) == 3 else []


def _ordered(
    shown: Sequence[Line], memory: Sequence[Contribution], language: str, dice: random.Random
) -> tuple[tuple[Line, ...], list[Contribution]]:
    """A planted instruction in the earlier dialogue or in the memory."""
    if len(shown) > 1 and dice.random() < 0.4:
        said = dice.choice(planted(language, "said"))
        join = "" if language in ("zh", "ja") else " "
        first = replace(shown[0], text=f"{shown[0].text}{join}{said}")
        return (first, *shown[1:]), list(memory)
    place = PromptPlace.RECALLED if dice.random() < 0.6 else PromptPlace.MEMORY
    note = contribution(dice.choice(planted(language, "memory")), place)
    mixed = list(memory)
    mixed.insert(dice.randrange(len(mixed) + 1), note)
    return tuple(shown), mixed


def contribution(text: str, place: PromptPlace) -> Contribution:
    """A remembered item, with its place in the prompt."""
    return Contribution(
        mechanism="", place=place, kind=MemoryKind.EVENT, id=text, text=text, value=1.0, sources=(),
        time=START, why="",
    )  # fmt: skip


def asked_reply(
    shown: Sequence[Line], memory: Sequence[Contribution], language: str, dice: random.Random
) -> tuple[Message, ...]:
    """The product's own request, on some day."""
    now = START + timedelta(days=dice.randrange(600), hours=dice.randrange(14))
    session = turns(shown, language)
    owner = Owner(tenant="", user="")
    request = ReplyRequest(
        owner=owner, text=shown[-1].text, session=session, now=now, language=language
    )
    return REPLY_FORMS["small"](request, memory, window=8192, max_tokens=300).messages
