"""Talks become examples, in the very prompts that the mechanisms send.

Four tasks, after paper C and our own small form: notes about one speaker; memos of a stretch that
was joined out of several talks, with its true ranges; the choice among memos, with NOTO; events.
What is to be learnt is checked as an answer of a model would be: a fact that its speaker's own
words do not support is left out, and an example of which nothing is left is not made.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from omoide.domain import Speaker
from omoide.errors import BadReply
from omoide.language import content_terms, split_sentences
from omoide.memory.events import form as events
from omoide.memory.memos.reading import read_choice, read_entries
from omoide.memory.memos.writer import _request as memo_request
from omoide.memory.overlap import coverage, stems
from omoide.memory.summary.facts import Fact
from omoide.memory.summary.small_form import MOST, SmallForm, own_words
from omoide.memory.transcript import Line
from omoide.prompts import render, words
from omoide.tuning.examples import TASKS, Example
from omoide.tuning.persons import predicate, recased

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from omoide.ports import Message
    from omoide.tuning.sources import Source, Talk

FORM = SmallForm()
CHOICES = 6
"""`limit` of the prompt for choosing memos."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A stretch of a talk with a topic and a summary."""

    key: str
    language: str
    lines: tuple[Line, ...]
    topic: str
    summary: str


@dataclass(kw_only=True)
class Tally:
    """What became of the data."""

    talks: int = 0
    facts: Counter[str] = field(default_factory=Counter)
    """`kept`, `not turned` into the third person, `not supported`, `repeated`."""
    examples: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """By source, task and language."""


def build(
    sources: Iterable[tuple[Source, Iterable[Talk]]],
    *,
    tasks: Sequence[str] = TASKS,
    seed: int,
    tally: Tally,
) -> Iterator[Example]:
    """All examples that the talks give, the same for the same seed."""
    for source, talks in sources:
        dice = random.Random(f"{seed}/{source.name}")  # noqa: S311 - an order, not a secret
        pieces: list[Piece] = []
        for talk in talks:
            tally.talks += 1
            facts = {speaker: supported(talk, speaker, tally) for speaker in Speaker}
            talk = replace(talk, lines=trimmed(talk.lines, facts, talk.language))
            made: list[Example] = []
            if "notes" in tasks:
                made += _notes(talk, facts, source.name)
            if "events" in tasks:
                made += _events(talk, facts, source.name)
            pieces += _pieces(talk, facts, dice)
            yield from _counted(made, tally)
        if "memos" in tasks:
            yield from _counted(_memos(pieces, dice, source.name), tally)
        if "choice" in tasks:
            yield from _counted(_choices(pieces, dice, source.name), tally)


def held_out(example: Example, *, share: float = 0.05) -> bool:
    """Whether an example is kept from training: by its source and key, so that no talk is on both
    sides."""
    digest = hashlib.sha256(f"{example.source}/{example.key}".encode()).digest()
    return int.from_bytes(digest[:4], "big") < share * 2**32


def supported(talk: Talk, speaker: Speaker, tally: Tally) -> list[Fact]:
    """What the speaker says of themselves that is true of them, in the order it comes up."""
    own = own_words(talk.lines, speaker, talk.language)
    heard = [stems(line) for line in own.splitlines()]
    session = [Line(speaker=speaker, text=own)]
    found: dict[str, tuple[int, Fact]] = {}
    for who, told in talk.told:
        if who is not speaker:
            continue
        text = predicate(told, talk.language)
        if not text or not _noted(text):
            tally.facts["not turned"] += 1
            continue
        if talk.language == "en":
            text = text.split(" ", 1)[0] + recased(text, own)[len(text.split(" ", 1)[0]) :]
        fact = Fact(about=speaker, text=text)
        if not own or not _holds(fact, session, talk.language):
            tally.facts["not supported"] += 1
            continue
        wanted = stems(text)
        if any(len(wanted & stems(f.text)) > 0.7 * len(wanted) for _, f in found.values()):
            tally.facts["repeated"] += 1
            continue
        tally.facts["kept"] += 1
        place = max(range(len(heard)), key=lambda i: len(wanted & heard[i]), default=0)
        found[text] = (place, fact)
    return [fact for _, fact in sorted(found.values(), key=lambda one: one[0])][:MOST]


def trimmed(
    lines: Sequence[Line], facts: dict[Speaker, list[Fact]], language: str
) -> tuple[Line, ...]:
    """The talk without sentences in which a speaker tells of themselves what no fact holds.

    Facts come from lists that people talked after, and they told more than is on the list: to
    learn from a short list under the whole talk would be to learn to leave things out."""
    known = {who: [stems(fact.text) for fact in facts[who]] for who in Speaker}
    if not any(known.values()):
        return tuple(lines)
    kept = []
    for line in lines:
        sentences = [
            sentence
            for sentence in split_sentences(line.text)
            if not _TELLS.search(sentence)
            or len(heard := stems(sentence)) < 3
            or any(2 * len(heard & fact) >= len(fact) for fact in known[line.speaker])
        ]
        if sentences:
            join = "" if language in ("zh", "ja") else " "
            kept.append(replace(line, text=join.join(sentences)))
    return tuple(kept)


_TELLS = re.compile(r"\b(?:i|i'm|i've|i'd|my)\b|我", re.IGNORECASE)


def _noted(text: str) -> bool:
    """Whether the grammar of the notes lets the text pass."""
    return 4 <= len(text) <= 150 and not re.search(r"[\n\r\t?!:;\"“”„«»「」『』？！：；؟]", text)


def _holds(fact: Fact, session: Sequence[Line], language: str) -> bool:
    """Whether the small form would keep the fact, were it a model's."""
    try:
        reading = FORM.read(
            [fact.sentence(language)], old=(), session=session, language=language, limit=20
        )
    except BadReply:
        return False
    return not reading.notes


def _counted(examples: Iterable[Example], tally: Tally) -> Iterator[Example]:
    for example in examples:
        tally.examples[example.source, example.task, example.language] += 1
        yield example


# ── One talk ────────────────────────────────────────────────────────────────────────────────


def _notes(talk: Talk, facts: dict[Speaker, list[Fact]], source: str) -> Iterator[Example]:
    for speaker, known in facts.items():
        own = [line for line in talk.lines if line.speaker is speaker]
        asked = FORM.ask(old=(), session=own, language=talk.language, limit=20)
        if known and asked:
            yield Example(
                task="notes",
                language=talk.language,
                source=source,
                key=talk.key,
                messages=asked[0].request.messages,
                answer="\n".join(fact.sentence(talk.language) for fact in known),
            )


def _events(talk: Talk, facts: dict[Speaker, list[Fact]], source: str) -> Iterator[Example]:
    known = [fact for speaker in Speaker for fact in facts[speaker]][: events.LIMIT]
    lines: Sequence[Line] = talk.lines
    if not known:
        if not talk.told:
            return  # nobody has said what is true here
        lines = [line for line in talk.lines[:2] if len(content_terms(line.text)) <= 3]
        if len(lines) < 2:
            return  # something was said, and nobody knows what of it is to be kept
    listed = [_event(fact, talk.language) for fact in known]
    pattern = re.compile(str(_pattern(talk.language)))
    kept = [event for event in listed if pattern.search(str(event["text"]))]
    answer = json.dumps({"events": kept}, ensure_ascii=False)
    if listed and not kept:
        return
    if kept:
        events.read(answer)  # raises if the product could not read it
    shown = "\n".join(line.labelled(talk.language) for line in lines)
    prompt = render("event_write", talk.language, session=shown, limit=str(events.LIMIT))
    yield _example("events", talk.language, source, talk.key, prompt.messages, answer)


def _pattern(language: str) -> Any:  # noqa: ANN401 - out of a schema
    form: Any = events.schema(language)
    for name in ("properties", "events", "items", "properties", "text", "pattern"):
        form = form[name]
    return form


def _event(fact: Fact, language: str) -> dict[str, object]:
    keys = [word[:30] for word in _telling(fact.text, language)[:2]]
    return {
        "text": fact.sentence(language),
        "topics": [topic(fact.text, language)[:30]],
        "keywords": keys,
        "participants": [words(language)[fact.about.value]],
    }


_LIGHT = frozenset(
    "a an the is are was were be been has have had do does did to of in on at for with as and or "
    "but not very really just also always never their them it that who this there from by about "
    "can cannot could will would should used likes loves enjoys wants works lives likes love like "
    "favorite lot so too been being get gets got go goes".split()
)


def _telling(text: str, language: str) -> list[str]:
    """The words that name things."""
    if language == "zh":
        return [re.sub(r"^(?:是|有|在|很|会|想|喜欢|超级|爱)+", "", text)[:12] or text[:12]]
    found = [word.strip(".,'()") for word in text.split()]
    return [word for word in found if word and word.lower() not in _LIGHT]


def topic(text: str, language: str) -> str:
    """What a fact is about, in a few of its own words."""
    if language == "zh":
        return _telling(text, language)[0]
    named = _telling(text, language)[-4:] or text.split()[-3:]
    return " ".join(named)


# ── Several talks ───────────────────────────────────────────────────────────────────────────


def _pieces(talk: Talk, facts: dict[Speaker, list[Fact]], dice: random.Random) -> Iterator[Piece]:
    """A whole talk where it comes with a summary; else a stretch that holds some of the facts."""
    if talk.summary:
        if talk.topic and 4 <= len(talk.lines) <= 12:
            yield Piece(
                key=talk.key,
                language=talk.language,
                lines=talk.lines,
                topic=talk.topic,
                summary=talk.summary,
            )
        return
    size = dice.randint(4, 8)
    if len(talk.lines) < size:
        return
    start = dice.randrange(len(talk.lines) - size + 1)
    lines = talk.lines[start : start + size]
    held = []
    for speaker in Speaker:
        own = own_words(lines, speaker, talk.language)
        session = [Line(speaker=speaker, text=own)]
        held += [f for f in facts[speaker] if own and _holds(f, session, talk.language)]
    if held:
        join = "" if talk.language in ("zh", "ja") else " "
        yield Piece(
            key=talk.key,
            language=talk.language,
            lines=lines,
            topic=topic(held[0].text, talk.language),
            summary=join.join(fact.sentence(talk.language) for fact in held[:4]),
        )


def _memos(pieces: Sequence[Piece], dice: random.Random, source: str) -> Iterator[Example]:
    """Two or three stretches joined; the task is to find the seams and to say what is in each."""
    for train in (False, True):
        side = [p for p in pieces if _side(p, source) is train]
        dice.shuffle(side)
        reached = 0
        while reached + 2 <= len(side):
            count = dice.choice((2, 2, 3))
            joined = side[reached : reached + count]
            reached += count
            while len(joined) > 2 and sum(len(p.lines) for p in joined) > 20:
                joined.pop()
            shown = [line for piece in joined for line in piece.lines]
            if len(shown) > 20 or len(joined) < 2 or len(joined) > max(1, min(8, len(shown) // 4)):
                continue
            ends = [sum(len(p.lines) for p in joined[: i + 1]) for i in range(len(joined))]
            entries = [
                {"topic": piece.topic, "start": first + 1, "end": last, "summary": piece.summary}
                for piece, (first, last) in zip(joined, pairwise([0, *ends]), strict=True)
            ]
            answer = json.dumps({"memos": entries}, ensure_ascii=False)
            if len(read_entries(answer)) != len(entries):
                continue
            language = joined[0].language
            request = memo_request([line.labelled(language) for line in shown], language)
            yield _example("memos", language, source, joined[0].key, request.messages, answer)


def _choices(pieces: Sequence[Piece], dice: random.Random, source: str) -> Iterator[Example]:
    """Something a user says, and the memo it is about among others; or none of them."""
    for train in (False, True):
        side = [p for p in pieces if _side(p, source) is train]
        for piece in side:
            others = dice.sample(side, min(len(side), dice.randint(3, 9)))
            shown = [other for other in others if other.key != piece.key]
            query = _query(piece)
            if not shown or not query:
                continue
            wanted = content_terms(query)
            if any(coverage(wanted, content_terms(o.topic + " " + o.summary)) > 0.2 for o in shown):
                continue  # it might be about one of the decoys, too
            none = dice.random() < 0.25
            if not none:
                shown.insert(dice.randrange(len(shown) + 1), piece)
            number = 0 if none else shown.index(piece) + 1
            answer = json.dumps({"numbers": [number]})
            read_choice(answer, count=len(shown))  # raises if the product could not read it
            listed = "\n".join(
                f"{i}. {' '.join(f'{o.topic}: {o.summary}'.split())[:240]}"
                for i, o in enumerate(shown, start=1)
            )
            prompt = render(
                "memo_choose", piece.language, limit=str(CHOICES), memos=listed, text=query
            )
            key = piece.key
            yield _example("choice", piece.language, source, key, prompt.messages, answer)


def _query(piece: Piece) -> str:
    """The user's line that has most to do with the summary; nothing if none has enough."""
    wanted = content_terms(piece.summary)
    said = [line.text for line in piece.lines if line.speaker is Speaker.USER]
    best = max(said, key=lambda text: coverage(content_terms(text), wanted), default="")
    terms = content_terms(best)
    return best if len(terms) >= 3 and coverage(terms, wanted) >= 0.3 else ""


def _side(piece: Piece, source: str) -> bool:
    probe = Example(task="memos", language="", source=source, key=piece.key, messages=(), answer="")
    return held_out(probe)


def _example(
    task: str,
    language: str,
    source: str,
    key: str,
    messages: tuple[Message, ...],
    answer: str,
) -> Example:
    return Example(
        task=task, language=language, source=source, key=key, messages=messages, answer=answer
    )
