"""Who the assistant is to the memory: somebody with a life of their own, or a model that talks.

Wang et al. 2023 remember both speakers, and both of theirs are people: what either says of
themselves is true of them. A model is nobody's neighbour. "I work at a bakery too" it says to be
friendly; once that is remembered it stands in every prompt, and the next invention builds on it.
What a user may hold it to is who its persona makes it, and what it promised or advised.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from omoide.memory.overlap import stems


@dataclass(frozen=True, kw_only=True)
class Partner:
    """Whom the user talks with."""

    person: bool = True
    """Whether all that they say of themselves is to be remembered."""
    persona: str = ""
    """Who they are by the settings, if they are not a person."""

    def answers_for(self, sentence: str, language: str) -> bool:
        """Whether a sentence of a partner who is no person is one to be held to."""
        return bool(_COMMITMENT[language].search(sentence)) or self._borne_out(sentence)

    def _borne_out(self, sentence: str, least: float = 0.5) -> bool:
        told = stems(sentence)
        return bool(told) and len(told & stems(self.persona)) >= least * len(told)


_COMMITMENT = {
    "en": re.compile(
        r"\bI(?:[’']ll| will) (?:remind|send|tell|write|look\b.{0,12}\b(?:up|into)|check|find out|"
        r"ask|get back)\b|\bI (?:promise|recommend|suggest)(?:ed)?\b",
        re.IGNORECASE,
    ),
    "zh": re.compile("我(?:会|来|再|就)?(?:提醒|推荐|建议|保证|答应|告诉你)"),
    "ja": re.compile(
        "(?:約束|おすすめ|お勧め|提案)(?:し|する|です|だ)|リマインド|知らせるね|調べておく"
    ),
    "ko": re.compile("약속(?:할게|해|드)|추천(?:해|할게|드|합)|알려 ?(?:줄게|드릴게)|찾아 ?볼게"),
    "vi": re.compile(
        r"\b(?:tôi|mình|tớ) (?:hứa|gợi ý|đề nghị|khuyên|sẽ (?:nhắc|gửi|tìm|kiểm tra|báo))\b",
        re.IGNORECASE,
    ),
}
"""What was promised or advised."""
