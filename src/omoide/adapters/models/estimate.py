"""How many tokens a text has, where no tokenizer is at hand."""

from __future__ import annotations

import re
from math import ceil

_CJK = re.compile(
    r"[\u1100-\u11ff\u3000-\u30ff\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"
)
_PLAIN = re.compile(r"[A-Za-z\s]")
_DIGIT = re.compile(r"[0-9]")
_MARK = re.compile(r"[!-/:-@\[-`{-~]")

MESSAGE_TOKENS = 5
"""What a chat template spends on one message: its role and the marks around it."""


def estimate_tokens(text: str) -> int:
    """About as many tokens as a current tokenizer makes of `text`, rather too many than too few.

    Four Latin letters or 1.5 CJK characters a token, half a token a mark or a letter of another
    alphabet, one a digit, and 1.5 for whatever is left (emoji). Fitted to the Qwen2.5 tokenizer,
    whose counts of chat lines it meets within a third in each of our languages.
    """
    cjk, plain, digits, marks = (len(p.findall(text)) for p in (_CJK, _PLAIN, _DIGIT, _MARK))
    known = _CJK.sub("", text)
    letters = sum(1 for c in known if ord(c) > 127 and c.isalpha())
    rest = sum(1 for c in known if ord(c) > 127 and not c.isalpha() and not c.isspace())
    return ceil(plain / 4 + cjk / 1.5 + digits + marks / 2 + letters / 2 + rest * 1.5)
