"""The texts of a case that every method embeds: they can be embedded beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from omoide_bench.data.memochat import ChoiceInstruction, LongTalk
from omoide_bench.data.shapes import Dialogue
from omoide_bench.tasks.evidence import NamedConversation
from omoide_bench.tasks.growth import SimulatedUser
from omoide_bench.tasks.recall import DatasetPerson


@singledispatch
def texts_of(case: object) -> Sequence[str]:
    """The texts to embed; none for a case of unknown type."""
    del case
    return ()


@texts_of.register
def _(case: Dialogue) -> Sequence[str]:
    return [*(line.text for line in case.lines), *(asked.text for asked in case.questions)]


@texts_of.register
def _(case: LongTalk) -> Sequence[str]:
    return [*case.turns, case.question]


@texts_of.register
def _(case: ChoiceInstruction) -> Sequence[str]:
    return [case.query, *case.options]


@texts_of.register
def _(case: NamedConversation) -> Sequence[str]:
    asked = case.conversation.questions
    return [*(line.text for line in case.conversation.lines), *(one.text for one in asked)]


@texts_of.register
def _(case: SimulatedUser) -> Sequence[str]:
    return [said.text for session in case.sessions for said in session]


@texts_of.register
def _(case: DatasetPerson) -> Sequence[str]:
    person = case.person
    return [
        *(event.text for event in person.events),
        *(text for text, _, _ in person.related),
        *(text for text, _ in person.turns),
    ]
