"""What a stretch of dialogue is about, in its own words: runs of telling words that are frequent
in it and rare outside it, after RAKE (Rose et al. 2010), for five languages and without a model."""

from __future__ import annotations

import re
from collections import Counter
from math import log
from typing import TYPE_CHECKING

from omoide.language import detect
from omoide.language.terms import STOP
from omoide.memory.transcript import spoken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.domain import Turn

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_BREAK = re.compile(r"[.,;:!?…。、，！？；：()\[\]\"“”「」『』\n]+")
_ENGLISH = STOP | frozenset(
    """i'm i've i'd i'll it's that's don't didn't doesn't can't won't you're you've they're we're
    isn't wasn't what's let's there's he's she's lot lots bit much many more most some any all
    good great nice cool fun love loves like likes enjoy enjoys want wants know think thought feel
    sounds sound look looks sure okay ok hello hi hey thanks thank haha wow hope glad even still
    also always never maybe actually probably definitely only every each other another things thing
    something anything everything time times day days today tomorrow yesterday week weeks year
    years now then because though while until since after before during up down out off away back
    make makes made take takes took give gives gave come comes came see saw seen say says said tell
    told use used try tried keep got getting been being are were him her who yes no not well done
    pretty quite such again ever way really awesome amazing wonderful exactly
    let mean guess talk talking later hear heard work works working help helps start started new
    old little big best better first last next own same few two three people person
    someone""".split()
)
_VIETNAMESE = frozenset(
    """rồi lại làm của để cho này kia đó thì mà được không có là và ở với vào ra đang đã sẽ mình
    tôi bạn em anh chị một các những hôm nay khi như rất quá lắm nhé ạ cũng còn bị từ đến sau nào
    gì sao thế vậy ơi à ừ chào cảm ơn thích muốn hay đi đây lên xuống trong ngoài trên dưới nên
    nhưng vì nếu bao giờ vẫn chưa mới cả hai ba con cái chiếc nhà người thấy biết nghĩ
    nói""".split()
)
_CHINESE = re.compile(
    r"[的了是在我你您他她它们和与就都也不有很把被这那哪么吗呢吧啊呀哦嗯要会能可去来到从对给让跟得着过还又"
    r"再最太只个些为因所以但如果什怎谁多少点想说看做没好真]|[^\u3400-\u9fff]"
)
_JAPANESE = re.compile(r"[\u3400-\u9fff々]{2,8}|[\u30a1-\u30fa\u30fc]{2,12}|[A-Za-z]{2,}")
_DULL_JAPANESE = frozenset(
    """今日 明日 昨日 最近 本当 一緒 自分 時間 今度 大丈夫 最高 先週 来週 今週 私達 皆 何度
    一番""".split()
)
_PARTICLE = re.compile(
    r"(?:에서는|에서도|에서|으로는|으로|에게|한테|까지|부터|이라는|라는|이라서|라서|이랑|하고|은|는|이|가|을|를|에|"
    r"의|와|과|도|만|로|랑)$"
)
_ENDING = re.compile(r"(?:요|다|죠|까|네|지|고|서|면|게|한|할|해|했|있|없|같)$")


def topic(stretch: Sequence[Turn], session: Sequence[Turn], *, language: str) -> str:
    """A name of two phrases at most."""
    inside = Counter(p for turn in stretch for p in phrases(spoken(turn), language))
    whole = Counter(p for turn in session for p in phrases(spoken(turn), language))
    best = _best(inside, whole, most=2)
    return ("、" if language in ("zh", "ja") else ", ").join(best)


def keywords(
    text: str, session: Sequence[Turn], *, language: str, most: int = 4
) -> tuple[str, ...]:
    """The phrases of a short text, those first that the session has least."""
    whole = Counter(p for turn in session for p in phrases(spoken(turn), language))
    return tuple(_best(Counter(phrases(text, language)), whole, most=most))


def phrases(text: str, language: str) -> list[str]:
    """Runs of telling words, in order, with repetitions."""
    code = detect(text, default=language)
    if code == "ja":
        return [p for p in _JAPANESE.findall(text) if p not in _DULL_JAPANESE]
    if code == "zh":
        return [p for p in _CHINESE.split(text) if 2 <= len(p) <= 6]
    if code == "ko":
        stems = (_PARTICLE.sub("", word) for word in _WORD.findall(text))
        return [word for word in stems if len(word) >= 2 and not _ENDING.search(word)]
    dull = _VIETNAMESE if code == "vi" else _ENGLISH
    return [run for part in _BREAK.split(text) for run in _runs(part, dull)]


def _runs(text: str, dull: frozenset[str], longest: int = 3) -> list[str]:
    found: list[str] = []
    run: list[str] = []
    for word in [*_WORD.findall(text), ""]:
        if word and word.lower().replace("’", "'") not in dull and len(word) > 1:
            run.append(word)
            continue
        if 0 < len(run) <= longest:
            found.append(" ".join(run))
        run = []
    return found


def _best(inside: Counter[str], whole: Counter[str], *, most: int) -> list[str]:
    """The phrases that stand out, none of whose words a better one has."""
    folded: dict[str, str] = {}
    score: dict[str, float] = {}
    for phrase, count in inside.items():
        key = phrase.lower()
        folded.setdefault(key, phrase)
        length = len(phrase.split()) if " " in phrase else 1 + len(phrase) / 20
        rare = log(2 + sum(whole.values()) / (1 + whole[phrase]))
        score[key] = score.get(key, 0.0) + count * rare * length**0.5
    kept: list[str] = []
    for key in sorted(score, key=lambda k: (-score[k], k)):
        if not any(set(key.split()) & set(other.lower().split()) for other in kept):
            kept.append(folded[key])
        if len(kept) == most:
            break
    return kept
