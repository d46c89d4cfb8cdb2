"""Sentences that tell several things at once, taken apart; and talk, turned into the plain form.

In Japanese and Korean people introduce themselves by a chain of clauses: 「東京に住んでて、猫を
飼ってて…」. A small model copies such a chain whole; shown its clauses one by one, it notes
them one by one. And where it copies an ending that belongs to talk, that can be taken off by rule.
"""

from __future__ import annotations

import re

_BREAK = {
    "ja": re.compile(
        r"(?<=[てしり])、|(?<=[んい]で)、|(?<=[師員生家者人身き]で)、|(?<=[らま][しれ]で)、"
        r"|(?<=けど)、|(?<=から)、|(?<=ので)、|(?<=のに)、"
    ),
    "ko": re.compile(
        r"(?<=[가-힣](?:고|며))(?:, ?| )(?!있|싶|나서|나면|계|말|가|오|다니|다녀)"
        r"|(?<=[는은인]데)(?:, ?| )|(?<=지만)(?:, ?| )"
    ),
}
"""Behind which words a new clause begins."""
_SHORTEST = 4
"""Signs of a clause that stands by itself."""


def split_clauses(sentence: str, language: str) -> tuple[str, ...]:
    """The clauses of a sentence, in order, nothing left out but commas; the sentence itself in
    languages whose clauses have subjects of their own."""
    if language not in _BREAK:
        return (sentence,)
    found: list[str] = []
    for part in _BREAK[language].split(sentence):
        clause = part.strip()
        if found and min(len(clause), len(found[-1])) < _SHORTEST:
            found[-1] += ("、" if language == "ja" else " ") + clause
        elif clause:
            found.append(clause)
    return tuple(found)


_ENDINGS = (
    (
        re.compile(
            r"(?<=[たるいくすつぬむぐう])(?:ん|の)?(?:だ|です)?(?:よね|よな|かな|から|けど|[よねな])$"
        ),
        "",
    ),
    (re.compile(r"(?<=[たるいくすつぬむぐう])ん(?:だ|です)$"), ""),
    (re.compile(r"(?:なん)?(?:だ|です)(?:よね|よ|ね|な)$"), "だ"),
    (re.compile(r"(?:なんだ|なんです|です)$"), "だ"),
    (re.compile(r"(?<=[てで])(?:いま|ま)すよ?ね?$"), "いる"),
    (re.compile(r"(?<=[てで])いて$"), "いる"),
    (re.compile(r"(?<=[^い])て(?:て|る)$"), "ている"),
    (re.compile(r"(?<=[んい])で(?:て|る)$"), "でいる"),
)
"""How a Japanese sentence ends in talk, and how in a note."""


def plainly(text: str, language: str) -> str:
    """A note whose end was said rather than written, in the plain form; any other as it is."""
    if language != "ja":
        return text
    for pattern, ending in _ENDINGS:
        text = pattern.sub(ending, text)
    return text


_OPEN = {
    "ja": (
        (re.compile(r"(?<=[てで])いて$"), "いる"),
        (re.compile(r"(?<=[しいきりみえびれちけせねべめげんっ]て)$|(?<=[んい]で)$"), "いる"),
        (re.compile(r"で$"), "だ"),
        (re.compile(r"(?<=[たるいだ])(?:し|けど|から|が)$"), ""),
    ),
    "ko": (
        (re.compile(r"인데$"), "이다"),
        (re.compile(r"(?:고|며|지만|는데)$"), "다"),
    ),
}
"""How a clause ends that another one follows, and how if none does."""


def concluded(clause: str, language: str) -> str:
    """A clause whose successor is gone, as the end of a note; any other as it is."""
    for pattern, ending in _OPEN.get(language, ()):
        if pattern.search(clause):
            return pattern.sub(ending, clause)
    return clause
