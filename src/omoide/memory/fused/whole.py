"""The whole of a session in one constrained call, for models that write sound JSON.

`WholeForm` asks for the new memory, the memos by topic and the events at once, and reads the
memory; the iterator checks it and asks again with what was wrong, as with any form. `Answers` takes
memos and events from the answer that was accepted, each by the guards of its own writer.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from omoide.domain import Sentence
from omoide.errors import BadReply
from omoide.language import split_sentences
from omoide.memory.events import form as events
from omoide.memory.events.writer import Written as Events
from omoide.memory.events.writer import read_drafts
from omoide.memory.memos.writer import Written as Memos
from omoide.memory.memos.writer import checked, cover
from omoide.memory.memos.writer import schema as memo_schema
from omoide.memory.summary.forms import Question, Reading, subject, unmarked
from omoide.memory.transcript import lines, spoken
from omoide.ports import Request, Skill
from omoide.prompts import render, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.domain import Turn
    from omoide.memory.events.form import Draft
    from omoide.memory.mechanism import Ended
    from omoide.memory.memos.writer import Draft as MemoDraft
    from omoide.memory.summary.iterator import Digest
    from omoide.memory.transcript import Line

TOPICS = 8
"""Most memos of one session."""


class WholeForm:
    """Memory, memos and events as one JSON object."""

    name = "whole"
    retry = "fused_retry"

    def ask(
        self, *, old: Sequence[Sentence], session: Sequence[Line], language: str, limit: int
    ) -> tuple[Question, ...]:
        """The old memory and the numbered lines of the session, in one question."""
        prompt = render(
            "fused_write",
            language,
            memory="\n".join(sentence.text for sentence in old) or words(language)["none"],
            lines="\n".join(
                f"{number} {line.labelled(language)}" for number, line in enumerate(session, 1)
            ),
            count=str(len(session)),
            limit=str(limit),
            topics=str(TOPICS),
            events=str(events.LIMIT),
        )
        request = Request(
            messages=prompt.messages,
            max_tokens=40 * limit + 80 * events.LIMIT + 60 * TOPICS,
            schema=schema(language, limit=limit, count=len(session)),
            skill=Skill.FUSED,
        )
        return (Question(request=request, prompt=prompt.hash),)

    def read(
        self,
        answers: Sequence[str],
        *,
        old: Sequence[Sentence],
        session: Sequence[Line],
        language: str,
        limit: int,
    ) -> Reading:
        """The sentences of the memory."""
        del old, session, limit
        texts = [text for answer in answers for text in _memory(answer)]
        if not texts:
            raise BadReply(f'wanted JSON with a list "memory", got {answers[0][:80]!r}')
        return Reading(sentences=tuple(Sentence(text=t, about=subject(t, language)) for t in texts))


class Answers:
    """Takes events and memos from the answers that `WholeForm` got."""

    async def events(self, digest: Digest, ended: Ended) -> Events | None:
        """Those of all parts; None if one has none that its guards let through."""
        said = [turn for turn in ended.turns if spoken(turn)]
        drafts: list[Draft] = []
        for part in digest.parts:
            found, problems = read_drafts(
                "\n".join(part.answers),
                turns=said,
                instructions=_instructions(ended.language),
                language=ended.language,
                limit=events.LIMIT,
            )
            if problems:
                return None
            drafts += found
        if not digest.parts:
            return None
        settled = events.settled(
            drafts, turns=said, session=ended.session.number, at=ended.at, language=ended.language
        )
        return Events(events=settled)

    async def memos(self, digest: Digest, turns: Sequence[Turn], *, ended: Ended) -> Memos | None:
        """Those that cover the turns; None if an answer has none that its guards let through, or
        if a turn was too long for one line."""
        said = [turn for turn in ended.turns if spoken(turn)]
        shown = [line for part in digest.parts for line in part.lines]
        if not shown or [line.text for line in lines(said)] != [line.text for line in shown]:
            return None
        drafts: list[MemoDraft] = []
        reached = 0
        for part in digest.parts:
            own = said[reached : reached + len(part.lines)]
            reached += len(part.lines)
            entries, problems = checked("\n".join(part.answers), own, ended.language)
            if problems:
                return None
            drafts += cover(entries, own, ended.language)
        wanted = {turn.id for turn in turns}
        kept = tuple(
            draft.only(wanted) for draft in drafts if any(t.id in wanted for t in draft.turns)
        )
        return Memos(drafts=kept)


def schema(language: str, *, limit: int, count: int) -> Mapping[str, object]:
    """The JSON schema of an answer."""
    memory = {
        "type": "array",
        "items": {"type": "string", "maxLength": 300},
        "minItems": 1,
        "maxItems": limit,
    }
    memos, listed = memo_schema(max(count, 1), TOPICS), events.schema(language)
    fields = {"memory": memory}
    for part in (memos, listed):
        properties = part["properties"]
        if isinstance(properties, dict):
            fields |= properties
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _memory(answer: str) -> list[str]:
    """The sentences under "memory" in the first JSON object that has any."""
    decoder = json.JSONDecoder(strict=False)
    for start in (found.start() for found in re.finditer(r"\{", answer)):
        try:
            value, _ = decoder.raw_decode(answer, start)
        except (ValueError, RecursionError):
            continue
        told = value.get("memory")
        listed = split_sentences(told) if isinstance(told, str) else told
        listed = listed if isinstance(listed, list) else []
        texts = [" ".join(unmarked(t).split()) for t in listed if isinstance(t, str)]
        if any(texts):
            return [text for text in texts if text]
    return []


def _instructions(language: str) -> str:
    """What the form says by itself, to know it again in an answer."""
    (question,) = WholeForm().ask(old=(), session=(), language=language, limit=20)
    return "\n".join(message.content for message in question.request.messages)
