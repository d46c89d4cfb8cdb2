"""How many tokens a text will be, where no tokenizer is at hand."""

from __future__ import annotations

import re

_CJK = re.compile(r"[\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uff00-\uffef]")


def estimate_tokens(text: str) -> int:
    """A slightly generous count: budgets should err on the side of fitting."""
    dense = len(_CJK.findall(text))
    marked = sum(1 for c in text if c > "\x7f") - dense
    return round(dense * 0.8 + marked * 0.6 + (len(text) - dense - marked) / 3.8) + 1
