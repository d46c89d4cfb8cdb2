"""Whether somebody asks for something about themselves that one could only know from them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from omoide.language.sentences import split_sentences


@dataclass(frozen=True, kw_only=True)
class _Ways:
    """How a language asks, names the speaker, and asks for advice or help, or after the other."""

    asks: re.Pattern[str]
    self: re.Pattern[str]
    help: re.Pattern[str]


def _ways(asks: str, own: str, helps: str) -> _Ways:
    compiled = (re.compile(part, re.IGNORECASE) for part in (asks, own, helps))
    return _Ways(**dict(zip(("asks", "self", "help"), compiled, strict=True)))


_WAYS = {
    "en": _ways(
        r"[?？]|^\W*(?:whats?|when|wheres?|who|whos|whose|which|how|do|did|am|is|was|are|were|have|has|"
        r"remember|remind me|tell me)\b",
        r"\b(?:i|i['’](?:m|ve|d|ll)|my|mine|me|myself)\b",
        r"\b(?:should|shall|can|could|may|might|would|will|must|recommend|suggest|advise|advice|"
        r"idea|ideas|help|explain|how (?:do|to)|tell me (?:a|about|how|why|more))\b|"
        r"\byour?s?\b(?! (?:still )?(?:remember|know|recall|forget|forgotten|guess))",
    ),
    "zh": _ways(
        "[?？]|[吗呢么]$|什么|哪|谁|几|多少|怎么",
        "[我咱]",
        "该|可以|能不能|能帮|怎么(?!称|叫)|如何|推荐|建议|帮我|要不要|好不好|行不行|给我",
    ),
    "ja": _ways(
        r"[?？]|か[。]?$|何|いつ|どこ|誰|だれ|どれ|どの|っけ",
        "私|わたし|あたし|僕|ぼく|俺|おれ|うちの|自分",
        "いいかな|いいと思|いいです?か|べき|おすすめ|お勧め|どうすれば|どうやって|どうしたら|"
        "教えてください|手伝|方法|かな",
    ),
    "ko": _ways(
        r"[?？]|뭐|언제|어디|누구|몇|무슨|어떤|어느",
        r"(?:^|\s)(?:나|내|제|저)(?:[는은가를도한의랑와에]|\s|$)|우리",
        "어떻게|추천|좋을까|할까|될까|도와|방법|해야|해 ?줘|알려 ?줄 수",
    ),
    "vi": _ways(
        r"[?？]|\b(?:gì|nào|đâu|bao nhiêu|mấy|ai|khi nào|bao giờ)\b",
        r"\b(?:tôi|mình|tớ|em|tui)\b",
        r"\b(?:nên|có thể|làm sao|làm thế nào|cách|giúp|gợi ý|khuyên|giải thích)\b",
    ),
}


def asks_of_oneself(text: str, language: str) -> bool:
    """Whether a sentence of the text asks after its speaker's own life ("What is my sister
    called?"), and not for advice, for help, or after the one who is asked."""
    ways = _WAYS[language]
    return any(
        ways.asks.search(sentence) and ways.self.search(sentence) and not ways.help.search(sentence)
        for sentence in map(str.strip, split_sentences(text))
    )
