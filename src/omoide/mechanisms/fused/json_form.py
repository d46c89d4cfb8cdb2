"""Summary, memos and events in one constrained call, for models that write valid JSON.

`JsonForm` asks for all three at once and reads the summary. The summariser checks it and, as with
any form, asks again with the problems it found. `JsonDigestSource` takes memos and events from the
accepted answer; each passes the guards of its own writer.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from omoide.claims.attribution import subject
from omoide.domain import Sentence
from omoide.errors import BadReply
from omoide.language import split_sentences
from omoide.mechanisms.events import form as events
from omoide.mechanisms.events.writer import EventsWritten as Events
from omoide.mechanisms.events.writer import read_drafts
from omoide.mechanisms.memos.writer import MemosWritten as Memos
from omoide.mechanisms.memos.writer import checked_memos, covering_memos
from omoide.mechanisms.memos.writer import schema as memo_schema
from omoide.mechanisms.summary.forms import FormReading, FormRequest, unmarked
from omoide.ports import Request, Skill
from omoide.prompts import render, vocabulary
from omoide.prompts.transcript import lines, spoken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.domain import Turn
    from omoide.mechanisms.base import SessionToDigest
    from omoide.mechanisms.events.form import EventDraft
    from omoide.mechanisms.memos.writer import MemoDraft as MemoDraft
    from omoide.mechanisms.summary.summariser import SummaryDigest
    from omoide.prompts.transcript import Line

TOPICS = 8
"""Maximum number of memos for one session."""


class JsonForm:
    """Summary, memos and events as one JSON object."""

    name = "whole"
    retry = "fused_retry"

    def ask(
        self, *, old: Sequence[Sentence], session: Sequence[Line], language: str, limit: int
    ) -> tuple[FormRequest, ...]:
        """Ask once, with the old memory and the numbered lines of the session."""
        prompt = render(
            "fused_write",
            language,
            memory="\n".join(sentence.text for sentence in old) or vocabulary(language)["none"],
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
        return (FormRequest(request=request, prompt=prompt.hash),)

    def read(
        self,
        answers: Sequence[str],
        *,
        old: Sequence[Sentence],
        session: Sequence[Line],
        language: str,
        limit: int,
    ) -> FormReading:
        """Read the sentences of the memory."""
        del old, session, limit
        texts = [text for answer in answers for text in _memory(answer)]
        if not texts:
            raise BadReply(f'wanted JSON with a list "memory", got {answers[0][:80]!r}')
        return FormReading(
            sentences=tuple(Sentence(text=t, about=subject(t, language)) for t in texts)
        )


class JsonDigestSource:
    """Takes events and memos from the answers to `JsonForm`."""

    async def events(self, digest: SummaryDigest, to_digest: SessionToDigest) -> Events | None:
        """The events of all parts; None if the events of a part do not pass the guards, or if a
        part has none: its memory is no list of events."""
        spoken_turns = [turn for turn in to_digest.turns if spoken(turn)]
        drafts: list[EventDraft] = []
        for part in digest.parts:
            if not any(isinstance(_whole(a).get("events"), list) for a in part.answers):
                return None
            part_drafts, problems = read_drafts(
                "\n".join(part.answers),
                turns=spoken_turns,
                instructions=_instructions(to_digest.language),
                language=to_digest.language,
                limit=events.LIMIT,
            )
            if problems:
                return None
            drafts += part_drafts
        if not digest.parts:
            return None
        written = events.to_events(
            drafts,
            turns=spoken_turns,
            session=to_digest.session.number,
            at=to_digest.at,
            language=to_digest.language,
        )
        return Events(events=written)

    async def memos(
        self, digest: SummaryDigest, turns: Sequence[Turn], *, to_digest: SessionToDigest
    ) -> Memos | None:
        """The memos that cover the turns; None if those of a part do not pass the guards, or if a
        turn was too long for one line."""
        spoken_turns = [turn for turn in to_digest.turns if spoken(turn)]
        part_lines = [line for part in digest.parts for line in part.lines]
        if not part_lines or [line.text for line in lines(spoken_turns)] != [
            line.text for line in part_lines
        ]:
            return None
        drafts: list[MemoDraft] = []
        start = 0
        for part in digest.parts:
            part_turns = spoken_turns[start : start + len(part.lines)]
            start += len(part.lines)
            entries, problems = checked_memos(
                "\n".join(part.answers), part_turns, to_digest.language
            )
            if problems:
                return None
            drafts += covering_memos(entries, part_turns, to_digest.language)
        wanted = {turn.id for turn in turns}
        kept = tuple(
            draft.restricted_to(wanted)
            for draft in drafts
            if any(t.id in wanted for t in draft.turns)
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
    return _texts(_whole(answer).get("memory"))


def _whole(answer: str) -> dict[str, object]:
    """The first JSON object with sentences under "memory"; empty if there is none."""
    decoder = json.JSONDecoder(strict=False)
    for start in (match.start() for match in re.finditer(r"\{", answer)):
        try:
            value, _ = decoder.raw_decode(answer, start)
        except (ValueError, RecursionError):
            continue
        if _texts(value.get("memory")):
            return dict(value)
    return {}


def _texts(lines: object) -> list[str]:
    """The sentences of a list, or of a text."""
    listed = split_sentences(lines) if isinstance(lines, str) else lines
    listed = listed if isinstance(listed, list) else []
    texts = [" ".join(unmarked(t).split()) for t in listed if isinstance(t, str)]
    return [text for text in texts if text]


def _instructions(language: str) -> str:
    """The form's own text, to detect an answer that copies it."""
    (question,) = JsonForm().ask(old=(), session=(), language=language, limit=20)
    return "\n".join(message.content for message in question.request.messages)
