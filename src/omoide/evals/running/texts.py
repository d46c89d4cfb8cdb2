"""The words of a case that will be embedded whatever the method: what can be done beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from omoide.evals.data.memochat import Choosing, LongTalk
from omoide.evals.data.shapes import Dialogue
from omoide.evals.tasks.evidence import Named
from omoide.evals.tasks.growth import Life
from omoide.evals.tasks.recall import Known


@singledispatch
def texts_of(case: object) -> Sequence[str]:
    """Nothing, of what is not known."""
    del case
    return ()


@texts_of.register
def _(case: Dialogue) -> Sequence[str]:
    return [*(line.text for line in case.lines), *(asked.text for asked in case.questions)]


@texts_of.register
def _(case: LongTalk) -> Sequence[str]:
    return [*case.turns, case.question]


@texts_of.register
def _(case: Choosing) -> Sequence[str]:
    return [case.query, *case.options]


@texts_of.register
def _(case: Named) -> Sequence[str]:
    asked = case.conversation.questions
    return [*(line.text for line in case.conversation.lines), *(one.text for one in asked)]


@texts_of.register
def _(case: Life) -> Sequence[str]:
    return [said.text for session in case.sessions for said in session]


@texts_of.register
def _(case: Known) -> Sequence[str]:
    person = case.person
    return [
        *(event.text for event in person.events),
        *(text for text, _, _ in person.related),
        *(text for text, _ in person.turns),
    ]
