"""Facts that a model found in a talk beyond the listed ones: their file, and how they are checked.

A line of the file is what one model said about one speaker of one talk:

    {"source": "synthetic_persona_chat", "key": "train/7", "speaker": "user", "model": "qwen3-8b",
     "sentences": ["User has a brother in Cork."]}

A model is an additional annotator, and its sentences are checked. One counts only if a line of the
speaker contains three quarters of it and the rest are common words, its names and numbers occur
there, and the line does not negate it, wish it, or say it about or to somebody else.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from omoide.domain import Speaker
from omoide.errors import BadInput
from omoide.language import split_sentences
from omoide_tune.stem_cache import stems
from omoide_tune.talk import TaughtSentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from omoide.claims import NotedFact
    from omoide.mechanisms import Line
    from omoide_tune.talk import TrainingTalk

HELD = 0.75
"""Share of a sentence that one line of its speaker must contain."""


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """What a model said about one speaker of one talk."""

    source: str
    key: str
    speaker: Speaker
    model: str
    sentences: tuple[str, ...]
    """In the third person, with subject and full stop; empty if no sentence passed the checks."""

    @property
    def about(self) -> tuple[str, str, Speaker]:
        """Source, talk and speaker that it is about."""
        return self.source, self.key, self.speaker

    def line(self) -> str:
        """The line of the file, with its line break."""
        fields = {
            "source": self.source,
            "key": self.key,
            "speaker": self.speaker.value,
            "model": self.model,
            "sentences": list(self.sentences),
        }
        return json.dumps(fields, ensure_ascii=False) + "\n"


def lessons(path: Path) -> tuple[Lesson, ...]:
    """All lessons of a file. An incomplete last line is skipped: it will be requested again.
    Raises `BadInput` if the file cannot be read, naming the first line that is not a lesson."""
    try:
        rows = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"{path} cannot be read ({error}); make it with `omoide tune teach`"
        ) from error
    found = []
    for number, row in enumerate(rows, start=1):
        if not row.strip():
            continue
        try:
            found.append(_lesson(json.loads(row)))
        except (ValueError, BadInput) as error:
            if number == len(rows):
                break
            raise BadInput(f"{path}, line {number}: {error}") from error
    return tuple(found)


def _lesson(value: Any) -> Lesson:  # noqa: ANN401 - whatever a line of JSON holds
    names = ("source", "key", "speaker", "model")
    if not isinstance(value, dict) or not all(isinstance(value.get(n), str) for n in names):
        raise BadInput(f"wanted an object with the strings {', '.join(names)}")
    said = value.get("sentences")
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        raise BadInput("sentences must be a list of strings")
    if value["speaker"] not in tuple(Speaker):
        raise BadInput(f"speaker must be one of {', '.join(Speaker)}, not {value['speaker']!r}")
    return Lesson(
        source=value["source"],
        key=value["key"],
        speaker=Speaker(value["speaker"]),
        model=value["model"],
        sentences=tuple(said),
    )


def with_lessons(
    talks: Iterable[TrainingTalk], source: str, given: Sequence[Lesson]
) -> Iterator[TrainingTalk]:
    """The talks with the lessons about them, independent of the order of the file. A talk with a
    complete list of facts is left as it is."""
    by_key: Mapping[str, list[Lesson]] = _grouped(source, given)
    for talk in talks:
        taught_sentences = by_key.get(talk.key)
        if not taught_sentences or talk.complete:
            yield talk
            continue
        added = dict.fromkeys(
            TaughtSentence(speaker=lesson.speaker, sentence=sentence, model=lesson.model)
            for lesson in sorted(
                taught_sentences, key=lambda one: (one.speaker, one.model, one.sentences)
            )
            for sentence in lesson.sentences
        )
        yield replace(talk, taught=tuple(added))


def _grouped(source: str, given: Sequence[Lesson]) -> dict[str, list[Lesson]]:
    found: dict[str, list[Lesson]] = defaultdict(list)
    for lesson in given:
        if lesson.source == source:
            found[lesson.key].append(lesson)
    return found


# ── Checks ──────────────────────────────────────────────────────────────────────────────────

_NOT = {
    "en": re.compile(
        r"\b(?:not|never|no|none|nobody|nothing|cannot|without|neither|nor|hardly|rarely|"
        r"stopped|quit)\b|n['’]t\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"[不没別别未无]"),
    "ja": re.compile(r"ない|なく|なかっ|ません|ぬ(?=。|$)"),
    "ko": re.compile(r"않|못|없|(?:^|\s)안\s"),
    "vi": re.compile(r"\b(?:không|chưa|chẳng|đừng)\b", re.IGNORECASE),
}
_WISHED = {
    "en": re.compile(
        r"\b(?:would|i['’]d|wish\w*|want\w*|hop(?:e|es|ing)|plan\w*|might|may|maybe|perhaps|could|should|"
        r"if|used to|going to|gonna|will|i['’]ll|someday|one day|dream\w*|try\w*|trying|tried|"
        r"think(?:ing)? (?:of|about)|consider\w*|almost|imagine|look(?:ing|s)? forward|thought)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"想|希望|如果|要是|打算|可能|也许|以后|以前|曾|计划|准备|梦想|试"),
    "ja": re.compile(r"たい|たら|れば|つもり|予定|かも|以前|昔|欲しい|ほしい"),
    "ko": re.compile(r"싶|면 |려고|계획|예정|아마|예전|옛날"),
    "vi": re.compile(r"\b(?:muốn|nếu|sẽ|định|có thể|có lẽ|trước đây|ước|hy vọng)\b", re.IGNORECASE),
}
"""Signs that a sentence is a wish, a plan, a hypothesis or about the past."""
_KIN = {
    "en": re.compile(
        r"\b(?:moth|fath|mom|dad|mum|wife|husband|spouse|broth|sist|sibling|son|sons|daught|kids?|child|"
        r"boyf|girlf|grand|uncle|aunt|cousin|friend|boss|roomm|fianc|partner|parent|famil|niece|"
        r"nephew|neighb|cowork|colleag|teacher|coach)\w*\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"妈|爸|父|母|哥|姐|弟|妹|老公|老婆|丈夫|妻|女儿|儿子|孩子|朋友|同学|同事|爷|奶|叔|姨"
    ),
    "ja": re.compile(
        r"母|父|兄|姉|弟|妹|夫|妻|娘|息子|子供|子ども|友達|友人|同僚|祖父|祖母|彼氏|彼女|親"
    ),
    "ko": re.compile(
        r"어머니|아버지|엄마|아빠|형|누나|언니|오빠|동생|남편|아내|딸|아들|친구|동료|할머니|할아버지"
    ),
    "vi": re.compile(
        r"\b(?:mẹ|bố|ba|cha|chồng|vợ|con trai|con gái|bạn bè|bạn trai|bạn gái|ông|bà)\b"
    ),
}
"""Other people whom a sentence may be about instead of its speaker."""
_SELF = {
    "en": re.compile(
        r"\b(?:i|i['’](?:m|ve|d|ll)|my|mine|me|myself|we|we['’]\w+|our|us)\b", re.IGNORECASE
    ),
    "zh": re.compile(r"[我咱俺]"),
}
_OTHER = {
    "en": re.compile(r"\b(?:you|your|yours|you['’]\w+)\b", re.IGNORECASE),
    "zh": re.compile(r"[你您]"),
    "ja": re.compile(r"あなた|君"),
    "ko": re.compile(r"당신|너는|네가"),
    "vi": re.compile(r"\b(?:bạn|cậu)\b", re.IGNORECASE),
}
_VAGUE = re.compile(
    r"\b(?:them|imagine|together|lucky|it|its|that|this|these|those|there|ones|same|too|he|she|him|her|his|such|"
    r"glad|sorry|thanks?|agree[sd]?|sure|hear|heard|hearing|talk(?:s|ed|ing)? (?:to|with)|chat\w*|"
    r"think(?:s|ing)?|guess\w*|wonder\w*|curious|something|someone|things?|stuff|meet you|"
    r"excited to hear|understands?|appreciat\w+|wishes|luck|question\w*|advice)\b",
    re.IGNORECASE,
)
"""English that depends on the context, or is small talk and no fact."""
_NUMBER = re.compile(
    r"\d+|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|"
    r"forty|fifty|sixty|hundred|thousand|million|first|second|third|twice|once|both|half)\b"
    r"|[一二两三四五六七八九十百千万]",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b[A-Z][\w'’-]+")
_QUESTION = re.compile(r"[?？؟]\s*$")


def is_supported(fact: NotedFact, said: Sequence[Line], language: str) -> bool:
    """Whether a talk supports what a model says about one of its speakers. Strict, because
    accepted facts become training data."""
    wanted = stems(fact.text)
    if not wanted or (language == "en" and _VAGUE.search(fact.text)):
        return False
    return any(
        _tells(fact, line.text, wanted, language) for line in said if line.speaker is fact.about
    )


_PLAIN = frozenset(stems("works lives owns has named called enjoys likes plans job user is"))
"""Words that a note may use to paraphrase a line."""


def _tells(fact: NotedFact, line: str, wanted: frozenset[str], language: str) -> bool:
    """Whether one line states the fact about its own speaker."""
    sentences = [s for s in split_sentences(line) if not _QUESTION.search(s)]
    part = _resting(sentences, wanted)
    heard = stems(part)
    if len(wanted & heard) < HELD * len(wanted) or not wanted <= heard | _PLAIN:
        return False
    if language in _SELF and not _SELF[language].search(part):
        return False
    if _OTHER[language].search(part):
        return False
    if _NOT[language].search(part) and not _NOT[language].search(fact.text):
        return False
    if _NOT[language].search(fact.text) and not _NOT[language].search(part):
        return False
    if _WISHED[language].search(part) and not _WISHED[language].search(fact.text):
        return False
    mine = {found[0].lower()[:5] for found in _KIN[language].finditer(fact.text)}
    theirs = {found[0].lower()[:5] for found in _KIN[language].finditer(part)}
    if mine != theirs:
        return False
    return _said(_NUMBER, fact.text, part) and _said(_NAME, fact.text, line)


def _resting(sentences: Sequence[str], wanted: frozenset[str]) -> str:
    """The fewest sentences of a line that contain the most of what is wanted."""
    left, taken = list(sentences), list[str]()
    missing = wanted
    while left and missing:
        best = max(left, key=lambda s: len(missing & stems(s)))
        if not missing & stems(best):
            break
        if missing <= _PLAIN:
            break
        taken.append(best)
        left.remove(best)
        missing = missing - stems(best)
    return " ".join(taken)


def _said(sign: re.Pattern[str], text: str, heard: str) -> bool:
    """Whether all parts of a text that match the sign also occur in `heard`, ignoring case."""
    return {found.lower() for found in sign.findall(text)} <= set(
        re.findall(r"[\w'’-]+|[一二两三四五六七八九十百千万]", heard.lower())
    )
