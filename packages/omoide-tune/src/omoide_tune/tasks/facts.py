"""A session's facts in one call: what is new, and the numbers of what it makes untrue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.claims import Partner
from omoide.domain import Fact
from omoide.errors import BadReply
from omoide.mechanisms.facts import SHOWN, TunedFactForm
from omoide.prompts import vocabulary
from omoide_tune.chains import known_after
from omoide_tune.checked_talks import START

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from omoide.claims import NotedFact
    from omoide_tune.checked_talks import CheckedTalk
    from omoide_tune.examples import Example


def facts(chain: Sequence[CheckedTalk], known: Sequence[NotedFact]) -> Iterator[Example]:
    """One example for each meeting of a chain."""
    held = list(known)
    for checked in chain:
        form = TunedFactForm(Partner(person=not checked.assisted))
        before, held = held[-SHOWN:], known_after(held, checked)
        if not checked.judged or checked.partial or (not checked.facts and not checked.complete):
            continue
        language, shown = checked.language, checked.shown
        listed = [_as_fact(number, fact, language) for number, fact in enumerate(before)]
        asked = form.ask(known=listed, session=shown, language=language)
        if asked is None:
            continue
        answer = _answer(checked, before)
        if _kept(form, answer, listed, checked):
            hard = "changed" if " (" in answer else "" if checked.facts else "nothing"
            yield checked.example("facts", asked.request.messages, answer, hard)


def _answer(checked: CheckedTalk, before: Sequence[NotedFact]) -> str:
    """The new facts, one a line; the word for nothing if there are none."""
    numbers = {new: before.index(old) + 1 for old, new in checked.changed if old in before}
    lines = [
        fact.sentence(checked.language) + (f" ({numbers[fact]})" if fact in numbers else "")
        for fact in checked.of()
        if fact not in before
    ]
    return "\n".join(lines) or vocabulary(checked.language)["none"]


def _kept(form: TunedFactForm, answer: str, listed: Sequence[Fact], checked: CheckedTalk) -> bool:
    """Whether the product would keep every line."""
    try:
        read = form.read(answer, known=listed, session=checked.shown, language=checked.language)
    except BadReply:
        return False
    return not read.aside


def _as_fact(number: int, fact: NotedFact, language: str) -> Fact:
    return Fact(
        id=f"f{number}",
        about=fact.about.value,
        text=fact.sentence(language),
        said=START,
        learned=START,
        language=language,
        session=0,
    )
