"""Reads a large model's answer: operations on facts and topics as JSON, wherever it stands in the
text. Each entry that cannot be used is set aside with a reason."""

from __future__ import annotations

import json
import re
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any

from omoide.claims.noted_facts import line_fact, note_lines
from omoide.domain import FactKind
from omoide.domain.fact import ASSISTANT, USER
from omoide.errors import BadReply
from omoide.mechanisms.facts.answer_days import written_days
from omoide.mechanisms.facts.operations import Action, FormAnswer, Operation, SetAside, Topic
from omoide.mechanisms.mended_json import mended
from omoide.prompts import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from omoide.domain import Fact
    from omoide.prompts.transcript import Line

TRIED = 50
"""Most places that are tried as the beginning of JSON."""
LONGEST = 1000
"""Most characters of one fact."""
_NUMBER = re.compile(r"\d+")
_FENCE = re.compile(r"```\w*")
_SYNONYMS = {"update": Action.REPLACE, "delete": Action.END, "remove": Action.END}


def read_answer(
    answer: str, *, known: Sequence[Fact], session: Sequence[Line], language: str
) -> FormAnswer:
    """The operations and topics of an answer; plain lines that begin with a speaker count as facts
    to add. Raises `BadReply` if it holds neither."""
    found = _object(answer)
    if found is None:
        return _plain_lines(answer, language)
    operations: list[Operation] = []
    aside: list[SetAside] = []
    reader = _Reader(known=known, session=session, language=language)
    for entry in found["changes"]:
        result = reader.read(entry)
        if isinstance(result, Operation):
            operations.append(result)
        else:
            aside.append(result)
    topics = found.get("topics")
    return FormAnswer(
        operations=tuple(operations),
        aside=tuple(aside),
        topics=_topics(topics if isinstance(topics, list) else [], lines=len(session)),
    )


def _plain_lines(answer: str, language: str) -> FormAnswer:
    """The lines of an answer that is not JSON."""
    operations: list[Operation] = []
    aside: list[SetAside] = []
    for line in note_lines(answer):
        note = line_fact(line, language)
        if note is not None:
            text = note.sentence(language)
            operations.append(Operation(action=Action.ADD, about=note.about.value, text=text))
        elif line != vocabulary(language)["none"]:
            aside.append(SetAside(text=line[:LONGEST], reason="it does not begin with a speaker"))
    if not operations and (aside or not answer.strip()):
        raise BadReply(f'wanted JSON with a list "changes", got {answer[:80]!r}')
    return FormAnswer(operations=tuple(operations), aside=tuple(aside))


def _object(answer: str) -> dict[str, Any] | None:
    """The last JSON object with a list of changes, since a model may correct itself; or a bare list
    of changes as one. What is only a part of JSON that cannot be read says nothing of the whole:
    its topics are no changes, and an empty list in it is no empty answer."""
    lists: list[dict[str, Any]] = []
    for text in (answer, mended(answer)):
        values = list(_values(text))
        for value in reversed(values):
            if isinstance(value, dict) and isinstance(value.get("changes"), list):
                return value
            if isinstance(value, list) and _are_changes(value):
                lists.append({"changes": value})
    if not lists and _FENCE.sub("", answer).strip() == "[]":
        return {"changes": []}
    return lists[0] if lists else None


def _values(text: str) -> Iterator[object]:
    """The JSON objects and lists in a text that stand in no other that can be read."""
    decoder = json.JSONDecoder(strict=False)
    end = 0
    for opening in islice(re.finditer(r"[\[{]", text), TRIED):
        if opening.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            continue
        yield value


def _are_changes(values: Sequence[object]) -> bool:
    return bool(values) and all(isinstance(v, dict) and ("do" in v or "text" in v) for v in values)


class _Reader:
    """Reads the entries of one answer."""

    def __init__(self, *, known: Sequence[Fact], session: Sequence[Line], language: str) -> None:
        self._known = {number: fact.id for number, fact in enumerate(known, 1)}
        self._turns = {number: line.turn for number, line in enumerate(session, 1)}
        self._speakers = _names(session, language, others={fact.about.casefold() for fact in known})

    def read(self, entry: object) -> Operation | SetAside:
        """One entry as an operation, or set aside."""
        if not isinstance(entry, dict):
            return SetAside(text=_shown(entry), reason="it is not an object with a text")
        text = " ".join(_string(entry.get("text")).split())
        facts, unknown = self._facts(entry.get("facts"))
        try:
            do = _string(entry.get("do")).strip().lower() or _implied(facts, text)
            action = Action(_SYNONYMS.get(do, do))
        except ValueError:
            return SetAside(text=_shown(entry), reason=f"there is no change {entry.get('do')!r}")
        if action in (Action.ADD, Action.REPLACE) and not text:
            return SetAside(text=_shown(entry), reason="it says nothing")
        if action in (Action.END, Action.CONFIRM) and not facts:
            if action is Action.END or not text:
                return SetAside(text=_shown(entry), reason="it names no fact that is known")
            action = Action.ADD
        if action is Action.FORGET:
            text = ""
        if action is Action.REPLACE and not facts:
            action = Action.ADD
        if len(text) > LONGEST:
            return SetAside(text=_shown(entry), reason=f"it has more than {LONGEST} characters")
        kind = _kind(_string(entry.get("kind")))
        since, ends = (written_days(_day(entry.get(name))) for name in ("since", "until"))
        until = ends.last
        if until is None and kind is FactKind.EVENT and since.first != since.last:
            until = since.last  # "2024-09" alone: some time in that month
        flags = ["it names a fact that is not known"] if unknown else []
        if since.unread or ends.unread:
            flags.append("a day that it names cannot be read")
        return Operation(
            action=action,
            about=self._about(_string(entry.get("about"))),
            text=text,
            kind=kind,
            facts=facts,
            turns=self._cited(entry.get("turns")),
            since=since.first,
            since_last=since.last,
            until=until,
            says_days="since" in entry and "until" in entry,
            reason=" ".join(_string(entry.get("why")).split())[:LONGEST],
            flags=tuple(flags),
        )

    def _facts(self, value: object) -> tuple[tuple[str, ...], bool]:
        numbers = _numbers(value)
        ids = tuple(dict.fromkeys(self._known[n] for n in numbers if n in self._known))
        return ids, any(n not in self._known for n in numbers)

    def _cited(self, value: object) -> tuple[str, ...]:
        cited = (self._turns[n] for n in _numbers(value) if n in self._turns)
        return tuple(dict.fromkeys(turn for turn in cited if turn))

    def _about(self, name: str) -> str:
        name = " ".join(name.split())
        return self._speakers.get(name.casefold(), name[:80] or USER)


def _names(session: Sequence[Line], language: str, *, others: set[str]) -> Mapping[str, str]:
    """How an answer may call the two speakers: by role in English or the session's language, or by
    name. Where several people speak as the user, each keeps their name, also in a later session in
    which only one of them speaks: then memory knows them as one of the others."""
    names = {role: role for role in (USER, ASSISTANT)}
    names |= {vocabulary(language)[role].casefold(): role for role in (USER, ASSISTANT)}
    for role in (USER, ASSISTANT):
        called = {line.name.casefold() for line in session if line.speaker == role and line.name}
        if len(called) == 1 and not called & others:
            names[called.pop()] = role
    return names


def _implied(facts: tuple[str, ...], text: str) -> str:
    if not facts:
        return Action.ADD
    return Action.REPLACE if text else Action.CONFIRM


def _kind(name: str) -> FactKind:
    name = name.strip().lower()
    return FactKind(name) if name in tuple(FactKind) else FactKind.STATE


def _topics(listed: Sequence[object], *, lines: int) -> tuple[Topic, ...]:
    topics = []
    for entry in listed:
        if not isinstance(entry, dict):
            continue
        name = " ".join(_string(entry.get("topic")).split())
        numbers = _numbers([entry.get("first"), entry.get("last")])
        if name and len(numbers) == 2 and 1 <= numbers[0] <= numbers[1] <= lines:
            topics.append(
                Topic(
                    topic=name[:120],
                    summary=" ".join(_string(entry.get("summary")).split())[:LONGEST] or name,
                    first=numbers[0],
                    last=numbers[1],
                )
            )
    return tuple(topics)


def _numbers(value: object) -> list[int]:
    """The whole numbers in a value: 3, "F3", [1, "2"] or "lines 4 and 5"."""
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int):
        return [value]
    if isinstance(value, float):
        return [int(value)] if isfinite(value) and value == int(value) else []
    if isinstance(value, str):
        return [int(number) for number in _NUMBER.findall(value)[:50] if len(number) < 10]
    if isinstance(value, list):
        return [number for item in value[:50] for number in _numbers(item)]
    return []


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _day(value: object) -> str:
    """What stands in a field for a day; some models write a year as a number."""
    return "" if value is None else str(value)


def _shown(entry: object) -> str:
    """An entry as people can read it: its text, or the JSON."""
    text = entry.get("text") if isinstance(entry, dict) else None
    shown = (
        text if isinstance(text, str) and text.strip() else json.dumps(entry, ensure_ascii=False)
    )
    return shown[:LONGEST]
