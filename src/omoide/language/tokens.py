"""Estimates the number of tokens of a text without a tokenizer."""

from __future__ import annotations

import re

_CJK = re.compile(r"[\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uff00-\uffef]")
_MARK = re.compile(r"[^\w\s]|_")
_DIGIT = re.compile(r"\d")
_ACCENTED = re.compile("[\x80-\u1fff]")
_ASCII = [chr(code) for code in range(128)]
_ASCII_MARKS = "".join(filter(_MARK.match, _ASCII)).encode()
_ASCII_DIGITS = "".join(filter(_DIGIT.match, _ASCII)).encode()


def estimate_tokens(text: str) -> int:
    """Estimated number of tokens, slightly too high so that budgets are not exceeded.

    Fitted to Qwen's tokenizer: a digit is one token, a punctuation mark half a token, an emoji one
    and a half.
    """
    if text.isascii():
        return _of_ascii(text.encode())
    dense = len(_CJK.findall(text))
    digits = len(_DIGIT.findall(text))
    marks = _MARK.findall(text)
    emoji = sum(1 for mark in marks if mark > "\u2fff")
    accented = len(_ACCENTED.findall(text))
    plain = len(text) - dense - digits - len(marks) - accented
    parts = dense * 0.8 + digits + (len(marks) - emoji) * 0.5 + emoji * 1.5 + accented * 0.6
    return round(parts + plain / 4.2) + 1


def _of_ascii(text: bytes) -> int:
    """The same without regular expressions, twenty times as fast, since whole prompts are
    counted."""
    unmarked = text.translate(None, _ASCII_MARKS)
    plain = unmarked.translate(None, _ASCII_DIGITS)
    marks, digits = len(text) - len(unmarked), len(unmarked) - len(plain)
    return round(digits + marks * 0.5 + len(plain) / 4.2) + 1
