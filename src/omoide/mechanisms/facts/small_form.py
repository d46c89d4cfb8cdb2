"""The forms for small models: short notes, one a line. As they are they read each speaker's own
words; with an adapter for facts the chat as it was held.

A model of 1.5 B parameters can note facts; only one that was tuned for it can also name the known
facts that a note makes untrue (docs/experiments/*-facts-in-one-call.md). Code works out the rest:
which note repeats a known fact, and which of them exclude each other by their words alone. A note
that the checks doubt is set aside with the reason, where people can see it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omoide.claims.attribution import Partner, owner, speaker_lines
from omoide.claims.contradiction import about, another_home, contradiction, retire
from omoide.claims.names import (
    name_clause,
    name_fact,
    name_facts,
    name_from_turns,
    name_in,
    named,
)
from omoide.claims.noted_facts import NotedFact as Note
from omoide.claims.noted_facts import alike, line_fact, note_lines, phrasing
from omoide.claims.notes import from_example, not_a_note
from omoide.claims.overlap import marks
from omoide.claims.support import TOGETHER, unsupported
from omoide.domain import FactKind, Speaker
from omoide.errors import BadReply
from omoide.language import as_last_clause, in_written_style, pack, split_sentences
from omoide.language.sentences import QUESTION
from omoide.mechanisms.facts.operations import Action, FormAnswer, Operation, SetAside
from omoide.mechanisms.summary.both_form import BothForm
from omoide.mechanisms.summary.forms import FormRequest
from omoide.mechanisms.summary.small_form import MAX_FACTS, grammar
from omoide.ports import Message, Request, Skill
from omoide.prompts import render, shared_start, vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.domain import Fact
    from omoide.prompts.transcript import Line


NO_SPEAKER = "it does not begin with a speaker"
ENDS_A_NAME = "it says that the user's name is untrue, and gives no other"
SHOWN = 24
"""How many of the known facts the model is shown."""
MOST_ENDED = 4
"""How many known facts one note may end."""
_UNTRUE = re.compile(r"\s*[(（](\d{1,2}(?:\s*[,，、]\s*\d{1,2})*)[)）]\s*[.。]?$")
"""The numbers of known facts at the end of a note."""


@dataclass(frozen=True, kw_only=True)
class _WrittenNote:
    """A note, and the ids of the known facts that the model calls untrue by it."""

    note: Note
    untrue: tuple[str, ...] = ()


class SmallForm:
    """Notes about both speakers from one call; code decides what they change. For small models as
    they are: shown what is known, one of 1.5 B notes half as much."""

    name = "small"
    topics = False
    rules = True
    """Whether rules too decide what a note makes untrue."""
    together = TOGETHER
    """How much of a note one statement must say (`claims.support`)."""

    def __init__(self, partner: Partner | None = None) -> None:
        self._partner = partner or Partner()

    def ask(
        self, *, known: Sequence[Fact], session: Sequence[Line], language: str
    ) -> FormRequest | None:
        """One question about whoever said something to note; None if nobody did."""
        del known  # code compares the notes with the known facts
        notes = BothForm(self._partner)
        questions = notes.ask(old=(), session=session, language=language, limit=0)
        return questions[0] if questions else None

    def ask_again(
        self, request: FormRequest, answer: str, *, problem: str, language: str
    ) -> FormRequest:
        """The request, the answer that could not be used, and why. A long answer is cut: otherwise
        the model copies it."""
        retry = render("memory_retry", language, problems=problem, limit="10")
        shown = Message(role="assistant", content=answer[:400] or "-")
        messages = (*request.request.messages, shown, *retry.messages)
        return replace(request, request=replace(request.request, messages=messages))

    def read(
        self, answer: str, *, known: Sequence[Fact], session: Sequence[Line], language: str
    ) -> FormAnswer:
        """Each line as an operation or set aside. Raises `BadReply` if no line is a note."""
        notes: list[_WrittenNote] = []
        aside: list[SetAside] = []
        said = {
            speaker: "\n".join(line.text for line in session if line.speaker is speaker)
            for speaker in Speaker
        }
        none = vocabulary(language)["none"]
        written = [text for line in note_lines(answer) if (text := _without(none, line))]
        for line in written:
            stated, untrue = _divided(line, known[:SHOWN])
            note = line_fact(stated, language)
            if note is None:
                aside.append(SetAside(text=line, reason=NO_SPEAKER))
                continue
            note = _in_written_style(note, language)
            note = owner(note, said, language)
            if reason := self._doubt(note, session, said, language):
                aside.append(SetAside(text=line, reason=reason))
            else:
                notes.append(_WrittenNote(note=note, untrue=untrue))
        foreign = all(entry.reason == NO_SPEAKER for entry in aside)
        if not answer.strip() or (aside and foreign and not notes):
            raise BadReply(f"wanted lines about a speaker, got {answer[:80]!r}")
        changes = _Changes(known=known, said=said, language=language, rules=self.rules)
        operations = changes.of(_with_name(notes, session, language))
        return FormAnswer(operations=tuple(operations), aside=tuple(aside))

    def _doubt(
        self, note: Note, session: Sequence[Line], said: Mapping[Speaker, str], language: str
    ) -> str:
        """Why a note must not become a fact; empty if nothing speaks against it."""
        if reason := not_a_note(note, language):
            return reason
        name = named(note.whole or note.text, language)
        if name and name in said[note.about]:
            return ""
        return unsupported(note, session, language, together=self.together) or from_example(
            note, said[note.about], language
        )


class TunedForm(SmallForm):
    """The model reads the chat as it was held, and the known facts by number; a note may end with
    the numbers of what it makes untrue. For models with an adapter for `Skill.FACTS`."""

    name = "tuned"
    rules = False
    together = 0.4  # it rarely mixes statements, and 0.6 sets 7 to 16 % of right notes aside

    def ask(
        self, *, known: Sequence[Fact], session: Sequence[Line], language: str
    ) -> FormRequest | None:
        """One question about whoever said something to note; None if nobody did."""
        words = {
            speaker: speaker_lines(session, speaker, language, partner=self._partner)
            for speaker in Speaker
        }
        speaking = [speaker for speaker in Speaker if words[speaker]]
        if not speaking:
            return None
        shown = known[:SHOWN]
        numbered = "\n".join(f"{number}. {fact.text}" for number, fact in enumerate(shown, 1))
        words_of_language = {
            "first": phrasing(language).user.strip(),
            "second": phrasing(language).assistant.strip(),
            "user": vocabulary(language)["user"],
            "assistant": vocabulary(language)["assistant"],
            "limit": str(MAX_FACTS),
            "none": vocabulary(language)["none"],
        }
        prompt = render(
            "facts_small",
            language,
            known=numbered or "-",
            session=self._chat(session, language),
            **words_of_language,
        )
        request = Request(
            messages=prompt.messages,
            max_tokens=480,
            grammar=grammar(
                *speaking,
                language=language,
                numbered=len(shown),
                leave_out=True,
                possessive=True,
            ),
            skill=Skill.FACTS,
            fixed=shared_start("facts_small", language, **words_of_language).messages,
        )
        return FormRequest(request=request, prompt=prompt.hash)

    def _chat(self, session: Sequence[Line], language: str) -> str:
        """The session line by line. Of what an assistant says only its questions, without which
        "They said six" tells nothing, and its promises."""
        shown = []
        for line in session:
            text = line.text
            if line.speaker is Speaker.ASSISTANT and not self._partner.person:
                text = " ".join(
                    sentence
                    for sentence in split_sentences(text)
                    if QUESTION.search(sentence) or self._partner.keeps(sentence, language)
                )
            if text:
                shown.append(replace(line, text=text).labelled(language))
        return "\n".join(shown)


def _in_written_style(note: Note, language: str) -> Note:
    stop = phrasing(language).stop
    whole = in_written_style(note.whole.removesuffix(stop), language) + stop if note.whole else ""
    return replace(note, text=in_written_style(note.text, language), whole=whole)


def _without(none: str, line: str) -> str:
    """The line without the word for nothing, which a model that does not end may add to it."""
    if none not in line:
        return line
    return " ".join(word for word in line.replace(none, " ").split() if word not in ".。")


def _divided(line: str, shown: Sequence[Fact]) -> tuple[str, tuple[str, ...]]:
    """A line without the numbers at its end, and the ids of the facts they stand for. A model that
    goes on counting means nothing by it: then no fact ends."""
    numbers: dict[int, None] = {}
    while found := _UNTRUE.search(line):
        numbers |= dict.fromkeys(int(number) for number in re.findall(r"\d+", found[1]))
        line = line[: found.start()]
    if len(numbers) > MOST_ENDED:
        return line, ()
    return line, tuple(shown[n - 1].id for n in numbers if 0 < n <= len(shown))


def _with_name(
    written: Sequence[_WrittenNote], session: Sequence[Line], language: str
) -> list[_WrittenNote]:
    """The notes, with the name by which the user introduced themselves in front, and in place of
    one that a model cut short."""
    name = name_from_turns(session, language)
    if not name:
        return list(written)
    right, any_name = name_fact(name, language), False
    notes: list[_WrittenNote] = []
    for entry in written:
        note = entry.note
        stated = named(note.whole or note.text, language, known=name) if _of_user(note) else ""
        any_name = any_name or bool(stated)
        notes.append(replace(entry, note=right) if _cut_short(stated, name) else entry)
    return notes if any_name else [_WrittenNote(note=right), *notes]


def _cut_short(stated: str, name: str) -> bool:
    return bool(stated) and stated != name and name.startswith(stated)


def _of_user(note: Note) -> bool:
    return note.about is Speaker.USER


class _Changes:
    """What notes change in the known facts."""

    def __init__(
        self, *, known: Sequence[Fact], said: Mapping[Speaker, str], language: str, rules: bool
    ) -> None:
        self._language = language
        self._rules = rules
        self._said = said
        self._texts = {fact.id: fact.text for fact in known}
        self._known = {
            fact.id: note for fact in known if (note := line_fact(fact.text, fact.language))
        }

    def of(self, written: Sequence[_WrittenNote]) -> list[Operation]:
        """One operation for each distinct note, and one for what is left of a fact that a note
        makes partly untrue."""
        operations: list[Operation] = []
        seen: list[Note] = []
        for entry in written:
            note = entry.note
            twin = next((other for other in seen if alike(note, other)), None)
            if twin is not None and marks(note.text) <= marks(twin.text):
                operations.append(self._operation(Action.CONFIRM, note))
                continue
            homes = [self._texts[i] for i, old in self._known.items() if self._leaves(old, note)]
            homes += [old.sentence(self._language) for old in seen if self._leaves(old, note)]
            seen.append(note)
            first, *rest = self._of(entry)
            operations += [replace(first, until_then=tuple(homes)), *rest]
        return operations

    def _of(self, entry: _WrittenNote) -> list[Operation]:
        note = entry.note
        same = [id_ for id_, old in self._known.items() if self._same(note, old)]
        if any(marks(note.text) <= marks(self._known[id_].text) for id_ in same):
            return [self._operation(Action.CONFIRM, note, facts=same[:1])]
        untrue = {id_: why for id_, old in self._known.items() if (why := self._untrue(old, note))}
        named_ids = [id_ for id_ in entry.untrue if id_ in self._known]
        said_so = [id_ for id_ in named_ids if self._may_end(self._known[id_], note)]
        flags = (ENDS_A_NAME,) if len(said_so) < len(named_ids) else ()
        ended = list(dict.fromkeys([*same, *said_so, *untrue]))
        if not ended:
            return [replace(self._operation(Action.ADD, note), flags=flags)]
        reason = next(iter(untrue.values()), "it has changed" if said_so else "said more fully")
        change = self._operation(Action.REPLACE, note, facts=ended, reason=reason)
        operations = [replace(change, flags=flags)]
        for id_ in (*said_so, *(i for i in untrue if i not in said_so)):
            old = self._known[id_]
            left = self._name_left(old, note) if id_ in said_so else self._still_true(old, note)
            operations += [
                replace(self._operation(Action.ADD, rest), facts=(id_,), by_rule=True)
                for rest in left
            ]
        for id_ in ended:
            del self._known[id_]
        return operations

    def _may_end(self, old: Note, new: Note) -> bool:
        """Whether the model is believed that the new note makes the old one untrue. People change
        home, work and taste, and keep their name unless they tell another."""
        return not name_facts([old], self._language) or bool(name_facts([new], self._language))

    def _name_left(self, old: Note, new: Note) -> list[Note]:
        """The user's name, if a fact tells it beside what the model says is over: "is called Lin,
        teaches in Suzhou"."""
        if old.about is not Speaker.USER or name_in(new.whole or new.text, self._language):
            return []
        clause = name_clause(old.whole or old.text, self._language)
        if not clause:
            return []
        clause = as_last_clause(clause, self._language)
        if not old.whole:
            return [Note(about=old.about, text=clause)]
        left = line_fact(f"{clause}{phrasing(self._language).stop}", self._language)
        return [left] if left else []

    def _still_true(self, old: Note, new: Note) -> list[Note]:
        """The clauses of a fact that a rule does not end. A name may be that of someone in an ended
        clause."""
        holding, _ = retire([old], [new], self._language, said=self._said)
        return [rest for rest in holding if not name_facts([rest], self._language)]

    def _same(self, note: Note, old: Note) -> bool:
        """Whether the note says what is known. Two facts about a relative have the relative in
        common, so there one must say all that the other says."""
        if not alike(note, old):
            return False
        if about(note.whole or note.text, self._language) == "user" and not note.whole:
            return True
        one, other = marks(note.text), marks(old.text)
        return one <= other or other <= one

    def _untrue(self, old: Note, new: Note) -> str:
        """Why the new note makes the old one untrue by a rule; empty if it does not."""
        if not self._rules:
            return ""
        holding, gone = retire([old], [new], self._language, said=self._said)
        if holding == [old] or not gone:
            return ""
        words = self._said.get(old.about, "")
        return contradiction(gone[0].text, new.text, language=self._language, said=words) or (
            "it has changed"
        )

    def _leaves(self, old: Note, new: Note) -> bool:
        """Whether the new note names another home than the old one."""
        one, other = (note.sentence(self._language) for note in (old, new))
        return old.about is new.about and another_home(one, other, language=self._language)

    def _operation(
        self, action: Action, note: Note, *, facts: Sequence[str] = (), reason: str = ""
    ) -> Operation:
        return Operation(
            action=action,
            about=note.about.value,
            text=note.sentence(self._language),
            kind=self._kind(note),
            facts=tuple(facts),
            reason=reason,
        )

    def _kind(self, note: Note) -> FactKind:
        rules = pack(self._language)
        if name_facts([note], self._language):
            return FactKind.TRAIT
        if rules.note.commitment.search(note.text):
            return FactKind.PROMISE
        if rules.change.planned.search(note.text):
            return FactKind.PLAN
        return FactKind.STATE
