"""Questions about oneself: answered where the memory tells it, and else not known.

Each comes twice, with the same words and the same notes but for the fact: what is to be learnt is
to look, neither to refuse nor to take what stands nearest. Beside them questions about the world,
which no note answers and which are simply answered.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.memory.mechanism import Place
from omoide.memory.transcript import Line
from omoide.prompts import words
from omoide.tuning.examples import Example
from omoide.tuning.tasks.replies import asked_reply, contribution
from omoide.tuning.told import START
from omoide.tuning.written import LANGUAGES, scenes
from omoide.tuning.written.asked import asked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omoide.memory.mechanism import Contribution
    from omoide.ports import Message
    from omoide.tuning.own.phrases import Pen
    from omoide.tuning.written.asked import Asked, Sort

ASKED = "asked"
"""The source of these examples."""
UNTOLD, KEPT, WORLD = "untold", "kept", "world"
"""Of which sort an example is: the first word of what makes it hard."""
SHARES = {WORLD: 0.4}
"""How many of a sort to the others."""
BACK = 0.65
"""Share of the answers that ask in turn."""
RECALLED = 0.85
"""Share in which something came to mind beside the question."""
LOST = 0.15
"""Share of the facts that the memory no longer has, but the turn that told them is found."""
TALKED = 0.4
"""Share with turns before the question."""


def from_questions(dice: random.Random, *, times: int) -> Iterator[Example]:
    """All of them in all languages; each question `times` times with other values and notes."""
    for language in LANGUAGES:
        book = asked(language)
        for _ in range(times):
            for sort in book.sorts:
                for question in sort.ask:
                    yield from _twins(book, sort, question, dice)
            yield from _world(book, dice)


def _twins(book: Asked, sort: Sort, question: str, dice: random.Random) -> Iterator[Example]:
    """The question with the fact and without it."""
    pen, language = book.pen(dice), book.book.language
    values: dict[str, str] = {}
    fact, told = pen.fill(dice.choice(sort.fact), values), pen.fill(sort.told, values)
    near = [pen.fill(text, dict(values)) for text in dice.sample(sort.near, dice.randint(0, 3))]
    far = _far(book, sort, pen, dice, most=6 - max(len(near), 1))
    before = _before(book, [text[2:] for text in near if text.startswith("> ")], pen, dice)
    shown = [*before, Line(speaker=Speaker.USER, text=question)]
    just = {f"> {line.text}" for line in before}  # what was just said is not recalled
    notes = _notes([text for text in near if text not in just], far, language, dice)
    answer = pen.fill(dice.choice(sort.known), values)
    day = dice.random()
    for kind, said, held in (
        (KEPT, dice.choice(book.known).replace("{x}", answer), notes.having(
            fact, _turn(told, language, dice), dice)),
        (UNTOLD, _unknown(book, sort, pen, dice), notes),
    ):  # fmt: skip
        same = random.Random(day)  # noqa: S311 - both are asked on one day
        messages = asked_reply(shown, held.contributions, language, same)
        yield _example(language, sort.name, messages, said, kind)


def _world(book: Asked, dice: random.Random) -> Iterator[Example]:
    """Questions that no note has to do with, among notes."""
    language = book.book.language
    for number, world in enumerate(book.worlds):
        for pair in world.pairs:
            pen, sort = book.pen(dice), dice.choice(book.sorts)
            near = [pen.fill(text, {}) for text in sort.near[:2]]
            far = _far(book, sort, pen, dice, most=4)
            memory = _notes(near[: dice.randint(0, 2)], far, language, dice).contributions
            question = pen.fill(world.filled(dice.choice(world.ask), pair), {})
            answer = pen.fill(world.filled(dice.choice(world.answer), pair), {})
            shown = [*_before(book, [], pen, dice), Line(speaker=Speaker.USER, text=question)]
            messages = asked_reply(shown, memory, language, dice)
            yield _example(language, f"{WORLD}/{number}/{pair[0]}", messages, answer, WORLD)


def _unknown(book: Asked, sort: Sort, pen: Pen, dice: random.Random) -> str:
    """That it was not told, and perhaps a question."""
    said = pen.fill(dice.choice(book.unknown).replace("{what}", sort.what), {})
    if dice.random() < BACK:
        said += book.book.space + pen.fill(dice.choice(sort.back), {})
    return said


def _far(book: Asked, sort: Sort, pen: Pen, dice: random.Random, *, most: int) -> list[str]:
    """Facts of other sorts."""
    others = [one for one in book.sorts if one != sort and one.name not in sort.without]
    return [
        pen.fill(dice.choice(one.fact), {}) for one in dice.sample(others, dice.randint(0, most))
    ]


@dataclass(frozen=True, kw_only=True)
class Notes:
    """As the product shows them: the memory, and what came to mind beside the question."""

    standing: tuple[str, ...]
    recalled: tuple[str, ...]

    def having(self, fact: str, turn: str, dice: random.Random) -> Notes:
        """The same with a fact among them: in the memory and mostly recalled, too; at times only
        in the turn that told it."""
        if dice.random() < LOST:
            return replace(self, recalled=_put(self.recalled, turn, dice))
        recalled = _put(self.recalled, fact, dice) if dice.random() < RECALLED else self.recalled
        if dice.random() < 0.3:
            recalled = (*recalled, turn)
        return Notes(standing=_put(self.standing, fact, dice), recalled=recalled)

    @property
    def contributions(self) -> list[Contribution]:
        """As the mechanisms hand them in."""
        return [
            *(contribution(text, Place.MEMORY) for text in self.standing),
            *(contribution(text, Place.RECALLED) for text in self.recalled),
        ]


def _notes(near: Sequence[str], far: Sequence[str], language: str, dice: random.Random) -> Notes:
    """The memory's sentences; those nearest to the question once more, with the user's turns."""
    standing = [text for text in (*near, *far) if not text.startswith("> ")]
    dice.shuffle(standing)
    came = [text for text in standing if text in near] + standing[: dice.randint(0, 1)]
    turns = [_turn(text[2:], language, dice) for text in near if text.startswith("> ")]
    recalled = (*dict.fromkeys(came), *turns) if dice.random() < RECALLED else ()
    return Notes(standing=tuple(standing), recalled=recalled)


def _put(notes: tuple[str, ...], note: str, dice: random.Random) -> tuple[str, ...]:
    at = dice.randint(0, len(notes))
    return (*notes[:at], note, *notes[at:])


def _turn(text: str, language: str, dice: random.Random) -> str:
    """As search shows what a user said."""
    day = START - timedelta(days=dice.randrange(1, 200))
    return f"{day:%Y-%m-%d} {words(language)['user']}: {text}"


def _before(book: Asked, near: Sequence[str], pen: Pen, dice: random.Random) -> list[Line]:
    """Turns before the question, in some: small talk, or something that is not the answer."""
    if dice.random() >= TALKED:
        return []
    if near and dice.random() < 0.5:
        said, reply = near[0], pen.fill(dice.choice(book.book.nod), {})
    else:
        small = dice.choice([one for one in scenes(book.book.language) if not one.fact])
        said, reply = small.said, small.reply
    return [Line(speaker=Speaker.USER, text=said), Line(speaker=Speaker.ASSISTANT, text=reply)]


def _example(
    language: str, key: str, messages: tuple[Message, ...], answer: str, kind: str
) -> Example:
    return Example(
        task="reply",
        language=language,
        source=ASKED,
        key=f"{language}/{key}",
        messages=messages,
        answer=answer,
        hard=kind,
    )
