"""What holds an answer to a form: masks over the vocabulary, computed while the GPU works.

llguidance does it, which llama.cpp uses for JSON schemas in our embedded runtime too. A GBNF
grammar without recursion, as all of ours are, becomes one regular expression, whose states are
made only as they are met: 0.7 ms of CPU a token for the notes' grammar. (xgrammar, which reads GBNF
itself, took 43 s on a busy core to compile it.)
"""

from __future__ import annotations

import json
import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from llguidance import LLExecutor, LLMatcher
from llguidance.hf import from_tokenizer
from llguidance.numpy import fill_next_token_bitmask_par

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

_SYMBOL = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
    | "(?P<literal>(?:[^"\\]|\\.)*)"
    | \[(?P<set>\^?(?:[^\]\\]|\\.)*)\]
    | (?P<name>[A-Za-z][A-Za-z0-9-]*)
    | (?P<repeat>[*+?]|\{\d+(?:,\d*)?\})
    | (?P<mark>[()|.])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_PLAIN = (
    r"[^\x00-\x1f\x7f\\?!:;\"“”„«»「」『』？！：；؟我你您咱私僕俺まで요니]{1,10}",
    r"[^\x00-\x1f\x7f\\\"]{1,30}",
)
"""Tokens that hold nothing special to any of our forms: where all of these may follow, the mask of
the lot is at hand. The first is the notes', the second that of strings in JSON."""
_NAMED = {"n": "\n", "r": "\r", "t": "\t"}
_RULE = re.compile(r"^\s*([A-Za-z][A-Za-z0-9-]*)\s*::=", re.MULTILINE)


def as_regex(gbnf: str) -> str:
    """A grammar without recursion as a regular expression. Raises ValueError for others."""
    heads = list(_RULE.finditer(gbnf))
    ends = [head.start() for head in heads[1:]] + [len(gbnf)]
    rules = {head[1]: gbnf[head.end() : end] for head, end in zip(heads, ends, strict=True)}
    if "root" not in rules:
        raise ValueError("a grammar needs a rule called root")
    return _expanded("root", rules, ())


def _expanded(name: str, rules: Mapping[str, str], within: tuple[str, ...]) -> str:
    if name in within:
        raise ValueError(f"the rule {name} stands in itself; only grammars without that are read")
    if name not in rules:
        raise ValueError(f"there is no rule {name}")
    body, pieces, reached = rules[name], list[str](), 0
    while reached < len(body):
        found = _SYMBOL.match(body, reached)
        if found is None:
            raise ValueError(f"not GBNF: {body[reached : reached + 40]!r}")
        reached = found.end()
        kind, text = found.lastgroup, found[0]
        if kind == "literal":
            pieces.append(f"(?:{''.join(map(_exact, _characters(found[kind])))})")
        elif kind == "set":
            pieces.append(_set(found[kind]))
        elif kind == "name":
            pieces.append(f"(?:{_expanded(text, rules, (*within, name))})")
        elif kind != "space":
            pieces.append({"(": "(?:", ".": r"(?s:.)"}.get(text, text))
    return "".join(pieces)


def _set(inside: str) -> str:
    no, listed = ("^", inside[1:]) if inside.startswith("^") else ("", inside)
    parts = re.findall(r"(\\x..|\\u....|\\U.{8}|\\.|[^\\])(?:-(\\.|[^\\]))?", listed, re.DOTALL)
    return f"[{no}{''.join(_range(first, last) for first, last in parts)}]"


def _range(first: str, last: str) -> str:
    one = _exact(_characters(first))
    return f"{one}-{_exact(_characters(last))}" if last else one


def _characters(text: str) -> str:
    def meant(found: re.Match[str]) -> str:
        code = found[1] or found[2] or found[3]
        return chr(int(code, 16)) if code else _NAMED.get(found[4], found[4])

    return _ESCAPED.sub(meant, text)


def _exact(character: str) -> str:
    return f"\\x{{{ord(character):x}}}"


class Guide:
    """One answer's form, and how far it has come."""

    def __init__(self, matcher: Any) -> None:  # noqa: ANN401 - the vendor's
        self.matcher = matcher

    def accept(self, token: int) -> bool:
        """Go on by a token; False if nothing may follow it, or it was not allowed."""
        return bool(self.matcher.consume_token(token)) and not self.matcher.is_stopped()


class Guides:
    """Makes guides for one tokenizer, and fills many rows at once."""

    def __init__(self, tokenizer: Any, *, vocabulary: int) -> None:  # noqa: ANN401
        self.width = -(-vocabulary // 32)
        self._words = from_tokenizer(
            tokenizer,
            n_vocab=vocabulary,
            eos_token=tokenizer.eos_token_id,
            slices=list(_PLAIN),
        )
        self._executor = LLExecutor(num_threads=max((os.cpu_count() or 2) - 2, 1))
        self._read = lru_cache(512)(self._matcher)

    def of_grammar(self, gbnf: str) -> Guide:
        """Raises ValueError if it cannot be read."""
        return Guide(self._read("grammar", gbnf).deep_copy())

    def of_schema(self, schema: Mapping[str, object]) -> Guide:
        """Raises ValueError if it cannot be read."""
        return Guide(self._read("schema", json.dumps(schema, ensure_ascii=False)).deep_copy())

    def fill(self, guides: Sequence[tuple[int, Guide]], bits: NDArray[np.int32]) -> None:
        """Write into each guide's row which tokens may come next."""
        rows = [(guide.matcher, row) for row, guide in guides]
        fill_next_token_bitmask_par(self._executor, rows, bits)

    def _matcher(self, kind: str, text: str) -> Any:  # noqa: ANN401 - the vendor's
        if kind == "grammar":
            grammar = LLMatcher.grammar_from_regex(as_regex(text))
        else:
            grammar = f"%llguidance {{}}\nstart: %json {text}"  # as llama.cpp asks for it
        matcher = LLMatcher(self._words, grammar)
        if matcher.is_error():
            raise ValueError(f"the {kind} cannot be read: {matcher.get_error()[:300]}")
        return matcher
