"""The form for small models: one question per speaker; code does the rest.

A model of 1.5 B parameters confuses who said what and cannot rewrite a memory. But shown one
speaker's own words, a worked example and a grammar that makes each line begin with "User …", it
notes facts. The recursion M_i from M_(i-1) is then done by rule: unsupported notes are rejected,
what became untrue is retired, the rest is merged and packed. On MSC this gives F1 53 against the
gold personas; the paper's prompt gives 40 (docs/experiments/*-small-model-summary.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.claims.attribution import Partner, speaker_lines
from omoide.claims.contradiction import retire
from omoide.claims.names import name_facts, name_from_turns, with_name
from omoide.claims.noted_facts import merge, pack, phrasing, read_facts
from omoide.claims.notes import from_example, not_a_note
from omoide.claims.support import unsupported
from omoide.domain import Sentence, Speaker
from omoide.errors import BadReply
from omoide.language import in_written_style
from omoide.language.pack import DEFAULT
from omoide.mechanisms.summary.forms import FormReading, FormRequest
from omoide.ports import Request, Skill
from omoide.prompts import render, vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.claims.noted_facts import NotedFact
    from omoide.prompts.transcript import Line

MAX_FACTS = 10
"""Maximum number of facts about one speaker in one session."""


class SmallForm:
    """Notes about each speaker from that speaker's own words. For an assistant that is not a
    person, only from its persona, promises and advice."""

    name = "small"
    retry = "memory_retry"

    def __init__(self, partner: Partner | None = None) -> None:
        self.partner = partner or Partner()

    def ask(
        self, *, old: Sequence[Sentence], session: Sequence[Line], language: str, limit: int
    ) -> tuple[FormRequest, ...]:
        """One question for each speaker who said anything but questions."""
        del old, limit  # code merges the old memory, so that nothing is lost
        return tuple(
            self._question(speaker, words, language)
            for speaker in Speaker
            if (words := speaker_lines(session, speaker, language, partner=self.partner))
        )

    def read(
        self,
        answers: Sequence[str],
        *,
        old: Sequence[Sentence],
        session: Sequence[Line],
        language: str,
        limit: int,
    ) -> FormReading:
        """Merge the old facts that still hold with the new ones into sentences."""
        new_facts = [
            replace(fact, text=in_written_style(fact.text, language))
            for answer in answers
            for fact in read_facts(answer, language)
        ]
        nothing = bool(answers) and all(a.strip() == vocabulary(language)["none"] for a in answers)
        if answers and not new_facts and not nothing:
            raise BadReply(f"wanted lines about a speaker, got {answers[0][:80]!r}")
        said = {
            speaker: "\n".join(line.text for line in session if line.speaker is speaker)
            for speaker in Speaker
        }
        new_facts = [self.with_owner(fact, said, language) for fact in new_facts]
        known = read_facts("\n".join(sentence.text for sentence in old), language)
        notes = ["the model found nothing to note"] if nothing else []
        good: list[NotedFact] = []
        for fact in new_facts:
            reason = not_a_note(fact, language) or unsupported(fact, session, language)
            if reason := reason or from_example(fact, said[fact.about], language):
                notes.append(f"not kept, {reason}: {fact.sentence(language)}")
            else:
                good.append(fact)
        known, good = with_name(name_from_turns(session, language), known, good, language)
        holding, untrue = retire(known, good, language, said=said)
        facts = merge(holding, good)
        packed = pack(facts, language, limit=limit, first=name_facts(facts, language))
        notes += [f"no longer true: {fact.sentence(language)}" for fact in untrue]
        notes += [f"no room for: {fact.sentence(language)}" for fact in packed.left_out]
        return FormReading(
            sentences=packed.sentences,
            notes=tuple(notes),
            replaced=tuple(fact.text for fact in untrue),
            new_sentences=tuple(Sentence(text=f.sentence(language), about=f.about) for f in good),
            nothing=nothing,
        )

    def with_owner(self, fact: NotedFact, said: Mapping[Speaker, str], language: str) -> NotedFact:
        """The fact unchanged: the model saw only one speaker's words."""
        del said, language
        return fact

    def _question(self, speaker: Speaker, words: str, language: str) -> FormRequest:
        prompt = render(
            "memory_small",
            language,
            session=words,
            subject=phrasing(language).subject(speaker).strip(),
            name=vocabulary(language)[speaker.value],
            limit=str(MAX_FACTS),
            none=vocabulary(language)["none"],
        )
        request = Request(
            messages=prompt.messages,
            max_tokens=320,
            grammar=grammar(speaker, language=language),
            skill=_skill(language),
        )
        return FormRequest(request=request, prompt=prompt.hash)


def _skill(language: str) -> Skill:
    """The skill of writing notes in that language; LoRA adapters exist per language."""
    return Skill.NOTES if language == DEFAULT else Skill(f"{Skill.NOTES}-{language}")


_OUT = r"\n\r\t?!:;\"“”„«»「」『』？！：；؟"
"""No line break, question, exclamation, quotation or colon inside a fact."""
_FIRST = rf"[^ ,.，、。{_OUT}]"
"""What a note goes on with after "User's"."""


def grammar(
    *speakers: Speaker,
    language: str,
    max_chars: int = 160,
    shortest: int = 3,
    most: int = MAX_FACTS,
    numbered: int = 0,
    leave_out: bool = False,
    possessive: bool = False,
) -> str:
    """GBNF grammar: for each speaker in turn, at most `most` notes that begin with the speaker;
    or the word for "none". A note may end with numbers up to `numbered`, if there are any. With
    `leave_out` there may be notes about the second speaker alone, or about the first: held to write
    about both, a model makes something up about one who told nothing. With `possessive` a note may
    begin with what is a speaker's ("User's sister")."""
    how = phrasing(language)
    unit = how.unit.replace("%s", _OUT + how.banned)
    starts = {speaker: [f'"{how.subject(speaker)}" {how.first_letter}'] for speaker in speakers}
    if possessive and how.possessive:
        for speaker, ways in starts.items():
            name = vocabulary(language)[speaker.value]
            ways.append(f'"{name}{how.possessive}" {_FIRST}')
    rules = [
        f"{speaker.value} ::= {speaker.value}-start "
        f"unit{{{shortest},{max_chars}}}{how.last}{' numbers?' if numbered else ''}"
        for speaker in speakers
    ]
    rules += [f"{speaker.value}-start ::= {' | '.join(ways)}" for speaker, ways in starts.items()]
    lines = [f'{s.value} ("\\n" {s.value}){{0,{most - 1}}}' for s in speakers]
    notes = ' "\\n" '.join(lines)
    if leave_out and len(speakers) > 1:
        notes = " | ".join([notes, *lines])
    nothing = vocabulary(language)["none"]
    rules.append(f'unit ::= {unit} | [0-9] ":" [0-9]')  # "at 5:30"
    if numbered:
        number = " | ".join(f'"{n}"' for n in range(1, numbered + 1))
        rules += ['numbers ::= " (" number (", " number){0,3} ")"', f"number ::= {number}"]
    return "\n".join([f'root ::= "{nothing}" | {notes}', *rules])
