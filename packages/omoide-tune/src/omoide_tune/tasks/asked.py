"""Questions about the user: answered if the memory has the fact, else not known.

Each comes twice, with the same wording and the same notes except for the fact. The model should
learn to look, and neither refuse nor take the nearest note. In addition there are questions about
the world, which no note answers and which are simply answered.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.mechanisms import Line, PromptPlace
from omoide.prompts import vocabulary
from omoide_tune.checked_talks import START
from omoide_tune.examples import Example
from omoide_tune.tasks.replies import asked_reply, contribution
from omoide_tune.written import LANGUAGES, scenes
from omoide_tune.written.asked import asked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omoide.mechanisms import Contribution
    from omoide.ports import Message
    from omoide_tune.own.phrases import PhraseFiller
    from omoide_tune.written.asked import AskedPhrases, QuestionKind

ASKED = "asked"
"""The source of these examples."""
UNTOLD, KEPT, WORLD = "untold", "kept", "world"
"""Kind of an example: the first word of its hard case."""
SHARES = {WORLD: 0.4}
"""Relative frequency of the kinds."""
BACK = 0.65
"""Share of the answers that ask back."""
RECALLED = 0.85
"""Share in which something was recalled besides the question."""
LOST = 0.15
"""Share of the facts that are only in a recalled turn, and no longer in the memory."""
TALKED = 0.4
"""Share with turns before the question."""


def from_questions(dice: random.Random, *, times: int) -> Iterator[Example]:
    """All questions in all languages, each `times` times with different values and notes."""
    for language in LANGUAGES:
        book = asked(language)
        for _ in range(times):
            for sort in book.sorts:
                for question in sort.ask:
                    yield from _twins(book, sort, question, dice)
            yield from _world(book, dice)


def _twins(
    book: AskedPhrases, sort: QuestionKind, question: str, dice: random.Random
) -> Iterator[Example]:
    """The question with the fact and without it."""
    pen, language = book.pen(dice), book.book.language
    values: dict[str, str] = {}
    fact, checked = pen.fill(dice.choice(sort.fact), values), pen.fill(sort.told, values)
    near = [pen.fill(text, dict(values)) for text in dice.sample(sort.near, dice.randint(0, 3))]
    far = _far(book, sort, pen, dice, most=6 - max(len(near), 1))
    before = _before(book, [text[2:] for text in near if text.startswith("> ")], pen, dice)
    shown = [*before, Line(speaker=Speaker.USER, text=question)]
    just = {f"> {line.text}" for line in before}  # lines of this conversation are not recalled
    notes = _notes([text for text in near if text not in just], far, language, dice)
    answer = pen.fill(dice.choice(sort.known), values)
    day = dice.random()
    for kind, said, held in (
        (KEPT, dice.choice(book.known).replace("{x}", answer), notes.having(
            fact, _turn(checked, language, dice), dice)),
        (UNTOLD, _unknown(book, sort, pen, dice), notes),
    ):  # fmt: skip
        same = random.Random(day)  # noqa: S311 - both are asked on the same day
        messages = asked_reply(shown, held.contributions, language, same)
        yield _example(language, sort.name, messages, said, kind)


def _world(book: AskedPhrases, dice: random.Random) -> Iterator[Example]:
    """Questions about the world, among unrelated notes."""
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


def _unknown(book: AskedPhrases, sort: QuestionKind, pen: PhraseFiller, dice: random.Random) -> str:
    """An answer that it was not told, perhaps with a question."""
    said = pen.fill(dice.choice(book.unknown).replace("{what}", sort.what), {})
    if dice.random() < BACK:
        said += book.book.space + pen.fill(dice.choice(sort.back), {})
    return said


def _far(
    book: AskedPhrases, sort: QuestionKind, pen: PhraseFiller, dice: random.Random, *, most: int
) -> list[str]:
    """Facts of other kinds."""
    others = [one for one in book.sorts if one != sort and one.name not in sort.without]
    return [
        pen.fill(dice.choice(one.fact), {}) for one in dice.sample(others, dice.randint(0, most))
    ]


@dataclass(frozen=True, kw_only=True)
class ShownNotes:
    """Notes as the product shows them: the memory, and what was recalled for the question."""

    standing: tuple[str, ...]
    recalled: tuple[str, ...]

    def having(self, fact: str, turn: str, dice: random.Random) -> ShownNotes:
        """The same with a fact among them: mostly in the memory and also recalled; sometimes only
        in the turn that stated it."""
        if dice.random() < LOST:
            return replace(self, recalled=_put(self.recalled, turn, dice))
        recalled = _put(self.recalled, fact, dice) if dice.random() < RECALLED else self.recalled
        if dice.random() < 0.3:
            recalled = (*recalled, turn)
        return ShownNotes(standing=_put(self.standing, fact, dice), recalled=recalled)

    @property
    def contributions(self) -> list[Contribution]:
        """As the mechanisms return them."""
        return [
            *(contribution(text, PromptPlace.MEMORY) for text in self.standing),
            *(contribution(text, PromptPlace.RECALLED) for text in self.recalled),
        ]


def _notes(
    near: Sequence[str], far: Sequence[str], language: str, dice: random.Random
) -> ShownNotes:
    """The memory's sentences; those nearest to the question are also recalled, with user turns."""
    standing = [text for text in (*near, *far) if not text.startswith("> ")]
    dice.shuffle(standing)
    came = [text for text in standing if text in near] + standing[: dice.randint(0, 1)]
    turns = [_turn(text[2:], language, dice) for text in near if text.startswith("> ")]
    recalled = (*dict.fromkeys(came), *turns) if dice.random() < RECALLED else ()
    return ShownNotes(standing=tuple(standing), recalled=recalled)


def _put(notes: tuple[str, ...], note: str, dice: random.Random) -> tuple[str, ...]:
    at = dice.randint(0, len(notes))
    return (*notes[:at], note, *notes[at:])


def _turn(text: str, language: str, dice: random.Random) -> str:
    """A user's turn as search shows it."""
    day = START - timedelta(days=dice.randrange(1, 200))
    return f"{day:%Y-%m-%d} {vocabulary(language)['user']}: {text}"


def _before(
    book: AskedPhrases, near: Sequence[str], pen: PhraseFiller, dice: random.Random
) -> list[Line]:
    """Turns before the question, in some examples: small talk, or something else."""
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
