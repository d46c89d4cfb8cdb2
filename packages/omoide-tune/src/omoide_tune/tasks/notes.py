"""Notes about one speaker, or about both: the small forms of the summary; and the word for
nothing, if a speaker is known to say nothing about themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.claims import speaker_lines
from omoide.domain import Speaker
from omoide.errors import BadReply
from omoide.mechanisms.summary import MAX_FACTS, BothForm, SmallForm
from omoide.prompts import vocabulary
from omoide_tune.acceptance import LIMIT

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from omoide.claims import NotedFact
    from omoide.mechanisms import Line
    from omoide_tune.checked_talks import CheckedTalk
    from omoide_tune.examples import Example

MIN_STATEMENT_CHARS = 20
"""Minimum characters of a speaker's statements; with fewer, nothing tempts the model to note."""
NOTHING = "nothing"
BOTH = 0.2
"""Share of the talks with facts about both speakers that use one prompt for both."""


def notes(checked: CheckedTalk, dice: random.Random) -> Iterator[Example]:
    """One example per speaker, or one for both."""
    shown, language = checked.shown, checked.language
    if (
        all(checked.of(who) and who not in checked.partial for who in Speaker)
        and dice.random() < BOTH
    ):
        facts = [fact for who in Speaker for fact in checked.of(who)[:MAX_FACTS]]
        asked = BothForm().ask(old=(), session=shown, language=language, limit=LIMIT)
        if len(asked) == 1 and _kept(BothForm(), facts, shown, language):
            yield checked.example("notes", asked[0].request.messages, _answer(facts, language))
        return
    for who in Speaker:
        own = [line for line in shown if line.speaker is who]
        yield from _nothing(checked, own, who)
        facts = checked.of(who)[:MAX_FACTS]
        asked = SmallForm().ask(old=(), session=own, language=language, limit=LIMIT)
        if (
            facts
            and asked
            and who not in checked.partial
            and _kept(SmallForm(), facts, shown, language)
        ):
            yield checked.example("notes", asked[0].request.messages, _answer(facts, language))


def _nothing(checked: CheckedTalk, own: Sequence[Line], who: Speaker) -> Iterator[Example]:
    """An example about a speaker who talks, but is known to say nothing about themselves."""
    language = checked.language
    if (
        checked.complete
        and not checked.of(who)
        and len(speaker_lines(own, who, language)) >= MIN_STATEMENT_CHARS
    ):
        asked = SmallForm().ask(old=(), session=own, language=language, limit=LIMIT)
        for question in asked:
            none = vocabulary(language)["none"]
            yield checked.example("notes", question.request.messages, none, NOTHING)


def _answer(facts: Sequence[NotedFact], language: str) -> str:
    return "\n".join(fact.sentence(language) for fact in facts)


def _kept(
    form: SmallForm, facts: Sequence[NotedFact], shown: Sequence[Line], language: str
) -> bool:
    """Whether the form would keep every one of the facts as written."""
    answer = _answer(facts, language)
    try:
        reading = form.read([answer], old=(), session=shown, language=language, limit=LIMIT)
    except BadReply:
        return False
    return not reading.notes and [s.text for s in reading.new_sentences] == answer.splitlines()
