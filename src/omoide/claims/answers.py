"""The checks between a model's answer and a commit to memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from string import Template
from typing import TYPE_CHECKING

from omoide.claims.overlap import coverage
from omoide.domain import Speaker
from omoide.language import content_terms, dominant_language, pack, split_sentences, terms
from omoide.language.sentences import QUESTION
from omoide.prompts import vocabulary
from omoide.prompts.transcript import spoken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Sentence, Turn


class Flaw(StrEnum):
    """What can be wrong with an answer. Each has a sentence in every `words.txt`."""

    EMPTY = "empty"
    ECHO_DIALOGUE = "echo_dialogue"
    ECHO_PROMPT = "echo_prompt"
    REPEATS = "repeats"
    TOO_MANY = "too_many"
    WRONG_LANGUAGE = "wrong_language"
    DROPS_OLD = "drops_old"
    CUT_SHORT = "cut_short"
    UNREADABLE = "unreadable"
    UNSUPPORTED = "unsupported"
    ABOUT_THE_CHAT = "about_the_chat"


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One reason not to commit an answer."""

    flaw: Flaw
    detail: str = ""

    def message(self, language: str) -> str:
        """The reason in the user's language, for the model's next try and for people."""
        return Template(vocabulary(language)[self.flaw]).safe_substitute(detail=self.detail)


def without_repeats(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """The sentences without those that repeat an earlier one in nearly the same words."""
    kept: list[tuple[Sentence, set[str]]] = []
    for sentence in sentences:
        its_terms = content_terms(sentence.text)
        if not any(
            s.about is sentence.about
            and (s.text == sentence.text or kept_terms == its_terms != set())
            for s, kept_terms in kept
        ):
            kept.append((sentence, its_terms))
    return tuple(sentence for sentence, _ in kept)


def without_echoes(
    sentences: Sequence[Sentence], turns: Sequence[Turn], *, language: str
) -> tuple[Sentence, ...]:
    """The sentences without those copied from the dialogue."""
    said = [_plain(s) for turn in turns for s in (spoken(turn), *split_sentences(spoken(turn)))]
    said = [text for text in said if len(text) >= 8]
    return tuple(s for s in sentences if not _is_echo(s.text, said, language))


def check(
    answer: Sequence[Sentence],
    *,
    cleaned: Sequence[Sentence],
    old: Sequence[Sentence],
    turns: Sequence[Turn],
    instructions: str,
    language: str,
    limit: int,
    nothing: bool = False,
) -> tuple[Problem, ...]:
    """All reasons why `cleaned` (the `answer` without repeats and echoes, with sources) must not
    replace `old`. If the model says that there is `nothing` to note, an empty memory may stay
    empty."""
    problems: list[Problem] = []
    distinct = without_repeats(answer)
    if len(answer) - len(distinct) > max(2, len(answer) // 2):
        problems.append(Problem(flaw=Flaw.REPEATS))
    if len(distinct) - len(cleaned) > max(1, len(distinct) // 3):
        problems.append(Problem(flaw=Flaw.ECHO_DIALOGUE))
    if _repeats_prompt(cleaned, instructions):
        problems.append(Problem(flaw=Flaw.ECHO_PROMPT))
    expected = old or answer or (_says_something(turns) and not nothing)
    if not cleaned and not problems and expected:
        problems.append(Problem(flaw=Flaw.EMPTY))
    if len(cleaned) > limit:
        problems.append(Problem(flaw=Flaw.TOO_MANY))
    written = dominant_language((s.text for s in cleaned), default=language)
    if written != language:
        problems.append(Problem(flaw=Flaw.WRONG_LANGUAGE))
        return tuple(problems)
    if sum(not sentence.supported for sentence in cleaned) > len(cleaned) / 2:
        problems.append(Problem(flaw=Flaw.UNSUPPORTED))
    lost = lost_without_cause(cleaned, old=old, turns=turns)
    if cleaned and len(lost) > max(1, len(old) // 2):
        detail = " ".join(sentence.text for sentence in lost)
        problems.append(Problem(flaw=Flaw.DROPS_OLD, detail=detail))
    return tuple(problems)


def _says_something(turns: Sequence[Turn], least: int = 8) -> bool:
    """Whether the user said more than pleasantries and questions, so that an empty memory is a
    failure."""
    texts = (spoken(turn) for turn in turns if turn.speaker is Speaker.USER)
    statements = (s for text in texts for s in split_sentences(text) if not QUESTION.search(s))
    return len(set().union(*map(content_terms, statements))) >= least


def lost_without_cause(
    new: Sequence[Sentence], *, old: Sequence[Sentence], turns: Sequence[Turn]
) -> list[Sentence]:
    """Old sentences that are gone although nothing in the session relates to them."""
    new_terms = set().union(*(content_terms(s.text) for s in new)) if new else set()
    turn_terms = set().union(*(content_terms(spoken(t)) for t in turns)) if turns else set()
    return [
        sentence
        for sentence in old
        if coverage(content_terms(sentence.text), new_terms) < 0.5
        and coverage(content_terms(sentence.text), turn_terms) < 0.34
    ]


def _is_echo(text: str, said: Sequence[str], language: str) -> bool:
    """Whether a sentence is copied from the dialogue rather than a statement about a speaker.

    A sentence that begins with the speaker may use the speaker's exact words: in languages that
    drop the subject it often does. A copied question or "I …" is still an echo.
    """
    plain = _plain(text)
    note = pack(language).note
    for subject in (note.user, note.assistant, *map(vocabulary(language).get, Speaker)):
        label = _plain(subject or "")
        if label and plain.removeprefix("the ").startswith(label):
            rest = plain.removeprefix("the ").removeprefix(label).strip()
            asked = bool(QUESTION.search(text))
            return (asked or bool(pack(language).person.first.match(rest))) and _near(rest, said)
    return _near(plain, said)


def _near(plain: str, said: Sequence[str], least: float = 0.9) -> bool:
    for text in said:
        if plain == text or (len(text) >= 16 and text in plain):
            return True
        shorter, longer = sorted((len(plain), len(text)))
        if shorter >= least * longer and SequenceMatcher(a=plain, b=text).ratio() >= least:
            return True
    return False


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s'?？]", " ", text.lower()).replace("?", " ").split())


def _repeats_prompt(sentences: Sequence[Sentence], instructions: str) -> bool:
    """Whether more than a third of the sentences consist mostly of five-term runs copied from the
    instructions."""
    prompt_runs = set(_runs(instructions))
    copied = sum(
        1
        for sentence in sentences
        if (runs := _runs(sentence.text)) and sum(r in prompt_runs for r in runs) > len(runs) / 2
    )
    return copied > max(0, len(sentences) // 3)


def _runs(text: str, length: int = 5) -> list[tuple[str, ...]]:
    unfolded = [t for t in terms(text) if not t.startswith("~")]
    return [tuple(unfolded[i : i + length]) for i in range(len(unfolded) - length + 1)]
