"""What must not become memory: the checks that stand between a model's answer and a commit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from string import Template
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.language import content_terms, dominant, split_sentences, terms
from omoide.memory.overlap import coverage
from omoide.memory.transcript import spoken
from omoide.prompts import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Sentence, Turn


class Flaw(StrEnum):
    """What is wrong with an answer. Each has its sentence in every `words.txt`."""

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


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One reason not to commit an answer."""

    flaw: Flaw
    detail: str = ""

    def told(self, language: str) -> str:
        """The reason in the user's language, for the model's second try and for a person."""
        return Template(words(language)[self.flaw]).safe_substitute(detail=self.detail)


def without_repeats(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """The sentences without those that say again, in nearly the same words, what came before."""
    kept: list[tuple[Sentence, set[str]]] = []
    for sentence in sentences:
        told = content_terms(sentence.text)
        if not any(
            s.about is sentence.about and (s.text == sentence.text or its == told != set())
            for s, its in kept
        ):
            kept.append((sentence, told))
    return tuple(sentence for sentence, _ in kept)


def without_echoes(
    sentences: Sequence[Sentence], turns: Sequence[Turn], *, language: str
) -> tuple[Sentence, ...]:
    """The sentences without those that are lines of the dialogue."""
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
    """All reasons not to let `cleaned` (the `answer` without repeats and echoes, with its sources)
    replace `old`. Where the model says that there is `nothing` to note, an empty memory may stay
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
    written = dominant((s.text for s in cleaned), default=language)
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


_ASKING = ("?", "？", "؟")


def _says_something(turns: Sequence[Turn], least: int = 8) -> bool:
    """Whether the user told more than pleasantries, so that an empty memory is a failure. Who
    only asks has told nothing."""
    said = (spoken(turn) for turn in turns if turn.speaker is Speaker.USER)
    told = (s for text in said for s in split_sentences(text) if not s.rstrip().endswith(_ASKING))
    return len(set().union(*map(content_terms, told))) >= least


def lost_without_cause(
    new: Sequence[Sentence], *, old: Sequence[Sentence], turns: Sequence[Turn]
) -> list[Sentence]:
    """Old sentences that are gone though the session said nothing that touches them."""
    now = set().union(*(content_terms(s.text) for s in new)) if new else set()
    heard = set().union(*(content_terms(spoken(t)) for t in turns)) if turns else set()
    return [
        sentence
        for sentence in old
        if coverage(content_terms(sentence.text), now) < 0.5
        and coverage(content_terms(sentence.text), heard) < 0.34
    ]


_FIRST_PERSON = re.compile(
    r"^(?:i|i'm|i've|i'd|my|we|yes|no|oh|tôi|mình|em|我们?|我|私|僕|俺|저는?|나는?|제)(?:\b|(?=\W)|(?<=[^\x00-\x7f]))"
)


def _is_echo(text: str, said: Sequence[str], language: str) -> bool:
    """Whether a sentence is a line of the dialogue rather than a statement about a speaker.

    With the speaker as its subject, a sentence may use the speaker's very words: languages that
    drop the subject do so all the time. A copied question or "I …" is still an echo.
    """
    plain = _plain(text)
    for subject in (words(language)["user"], words(language)["assistant"]):
        lead = re.compile(
            rf"^(?:the )?{re.escape(subject.lower())}(?: (?:says|asks)|[:：]|は、?|가|은|는)?\s*"
        )
        rest = lead.sub("", plain)
        if rest != plain:
            asked = text.rstrip().endswith(("?", "？"))
            return (asked or bool(_FIRST_PERSON.match(rest))) and _near(rest, said)
    return _near(plain, said)


def _near(plain: str, said: Sequence[str], least: float = 0.9) -> bool:
    for heard in said:
        if plain == heard or (len(heard) >= 16 and heard in plain):
            return True
        shorter, longer = sorted((len(plain), len(heard)))
        if shorter >= least * longer and SequenceMatcher(a=plain, b=heard).ratio() >= least:
            return True
    return False


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s'?？]", " ", text.lower()).replace("?", " ").split())


def _repeats_prompt(sentences: Sequence[Sentence], instructions: str) -> bool:
    """Whether most sentences are made of runs of five terms out of the instructions."""
    runs = set(_runs(instructions))
    copied = sum(
        1
        for sentence in sentences
        if (own := _runs(sentence.text)) and sum(r in runs for r in own) > len(own) / 2
    )
    return copied > max(0, len(sentences) // 3)


def _runs(text: str, length: int = 5) -> list[tuple[str, ...]]:
    found = [t for t in terms(text) if not t.startswith("~")]
    return [tuple(found[i : i + length]) for i in range(len(found) - length + 1)]
