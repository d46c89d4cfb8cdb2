"""Notes about one speaker, or about both: the small forms of the summary; and the word for
nothing, of who is known to tell nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.errors import BadReply
from omoide.memory.summary.both_form import BothForm
from omoide.memory.summary.small_form import MOST, SmallForm, own_words
from omoide.prompts import words
from omoide.tuning.accepting import LIMIT

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from omoide.memory.summary.facts import Fact
    from omoide.memory.transcript import Line
    from omoide.tuning.examples import Example
    from omoide.tuning.told import Told

LEAST = 20
"""Characters that a speaker says beside questions, or there is nothing to be tempted by."""
NOTHING = "nothing"
BOTH = 0.2
"""Share of the talks in which both tell something that are asked about in one question."""


def notes(told: Told, dice: random.Random) -> Iterator[Example]:
    """One example a speaker, or one for both."""
    shown, language = told.shown, told.language
    if all(told.of(who) and who not in told.partial for who in Speaker) and dice.random() < BOTH:
        facts = [fact for who in Speaker for fact in told.of(who)[:MOST]]
        asked = BothForm().ask(old=(), session=shown, language=language, limit=LIMIT)
        if len(asked) == 1 and _kept(BothForm(), facts, shown, language):
            yield told.example("notes", asked[0].request.messages, _answer(facts, language))
        return
    for who in Speaker:
        own = [line for line in shown if line.speaker is who]
        yield from _nothing(told, own, who)
        facts = told.of(who)[:MOST]
        asked = SmallForm().ask(old=(), session=own, language=language, limit=LIMIT)
        if (
            facts
            and asked
            and who not in told.partial
            and _kept(SmallForm(), facts, shown, language)
        ):
            yield told.example("notes", asked[0].request.messages, _answer(facts, language))


def _nothing(told: Told, own: Sequence[Line], who: Speaker) -> Iterator[Example]:
    """Of a speaker who says something, and is known to tell nothing of themselves."""
    language = told.language
    if told.complete and not told.of(who) and len(own_words(own, who, language)) >= LEAST:
        asked = SmallForm().ask(old=(), session=own, language=language, limit=LIMIT)
        for question in asked:
            none = words(language)["none"]
            yield told.example("notes", question.request.messages, none, NOTHING)


def _answer(facts: Sequence[Fact], language: str) -> str:
    return "\n".join(fact.sentence(language) for fact in facts)


def _kept(form: SmallForm, facts: Sequence[Fact], shown: Sequence[Line], language: str) -> bool:
    """Whether the form would keep every one of the facts, as it is written."""
    answer = _answer(facts, language)
    try:
        reading = form.read([answer], old=(), session=shown, language=language, limit=LIMIT)
    except BadReply:
        return False
    return not reading.notes and [s.text for s in reading.told] == answer.splitlines()
