"""Constrained decoding: masks over the vocabulary, computed while the GPU works.

Uses llguidance, which llama.cpp uses for JSON schemas in our embedded runtime too. A GBNF
grammar without recursion, as all of ours are, becomes one regular expression, whose states are
built lazily: 0.7 ms of CPU per token for the notes' grammar. (xgrammar, which reads GBNF
itself, took 43 s on a busy core to compile it.) If rules are shared so much that this would
be too long, as in the memos' grammar, it becomes a Lark grammar.
"""

from __future__ import annotations

import json
import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

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
"""Tokens without special meaning in any of our formats: if all of these may follow, one precomputed
mask covers them. The first set is for notes, the second for strings in JSON."""
_NAMED = {"n": "\n", "r": "\r", "t": "\t"}
_RULE = re.compile(r"^\s*([A-Za-z][A-Za-z0-9-]*)\s*::=", re.MULTILINE)


LARGEST = 20_000
"""Maximum symbols of a regular expression."""


def read(gbnf: str) -> str:
    """Convert a grammar without recursion for llguidance. Raises ValueError for others."""
    rules = _rules(gbnf)
    if _size("root", rules) > LARGEST:
        return as_lark(gbnf)
    found: str = LLMatcher.grammar_from_regex(as_regex(gbnf))
    return found


def as_regex(gbnf: str) -> str:
    """Convert a grammar without recursion to a regular expression. Raises ValueError for others."""
    rules = _rules(gbnf)
    _size("root", rules)
    return _expanded("root", rules)


def as_lark(gbnf: str) -> str:
    """Convert a grammar to Lark: a rule that names no other becomes a terminal, any other a rule.

    A terminal is greedy, so what follows it must not begin with something that could still
    belong to it."""
    rules = _rules(gbnf)
    _size("root", rules)
    called = {name: f"r{i}" for i, name in enumerate(rules)}
    leaves = {name for name, body in rules.items() if all(s.kind != "name" for s in body)}
    called |= {name: called[name].upper() for name in leaves}
    lines = ["%llguidance {}", f"start: {called['root']}"]
    for name, body in rules.items():
        right = f"/{_expanded(name, rules)}/" if name in leaves else _lark(body, called)
        lines.append(f"{called[name]}: {right}")
    return "\n".join(lines)


class _Symbol(NamedTuple):
    """A symbol of a rule: its kind, and the text between its quotes or brackets."""

    kind: str
    text: str


def _rules(gbnf: str) -> dict[str, list[_Symbol]]:
    heads = list(_RULE.finditer(gbnf))
    ends = [head.start() for head in heads[1:]] + [len(gbnf)]
    bodies = {head[1]: gbnf[head.end() : end] for head, end in zip(heads, ends, strict=True)}
    if "root" not in bodies:
        raise ValueError("a grammar needs a rule called root")
    return {name: _symbols(body) for name, body in bodies.items()}


def _symbols(body: str) -> list[_Symbol]:
    symbols, reached = list[_Symbol](), 0
    while reached < len(body):
        found = _SYMBOL.match(body, reached)
        if found is None or found.lastgroup is None:
            raise ValueError(f"not GBNF: {body[reached : reached + 40]!r}")
        reached = found.end()
        if found.lastgroup != "space":
            symbols.append(_Symbol(found.lastgroup, found[found.lastgroup]))
    return symbols


def _size(root: str, rules: Mapping[str, Sequence[_Symbol]]) -> int:
    """How many symbols the rule has when fully expanded."""
    sizes: dict[str, int] = {}

    def size(name: str, within: frozenset[str]) -> int:
        if name in within:
            raise ValueError(f"the rule {name} is recursive, which is not supported")
        if name not in rules:
            raise ValueError(f"there is no rule {name}")
        if name not in sizes:
            inner = within | {name}
            sizes[name] = sum(size(s.text, inner) if s.kind == "name" else 1 for s in rules[name])
        return sizes[name]

    return size(root, frozenset())


def _expanded(name: str, rules: Mapping[str, Sequence[_Symbol]]) -> str:
    pieces = []
    for kind, text in rules[name]:
        if kind == "name":
            pieces.append(f"(?:{_expanded(text, rules)})")
        elif kind in ("literal", "set"):
            pieces.append(_pattern(kind, text))
        else:
            pieces.append({"(": "(?:", ".": r"(?s:.)"}.get(text, text))
    return "".join(pieces)


def _lark(body: Sequence[_Symbol], called: Mapping[str, str]) -> str:
    pieces = []
    for kind, text in body:
        if kind == "name":
            pieces.append(called[text])
        elif kind in ("literal", "set"):
            pieces.append(f"/{_pattern(kind, text)}/")
        else:
            pieces.append("/(?s:.)/" if text == "." else text)
    return " ".join(pieces)


def _pattern(kind: str, text: str) -> str:
    if kind == "set":
        return _set(text)
    return f"(?:{''.join(map(_exact, _characters(text)))})"


def _set(inside: str) -> str:
    no, listed = ("^", inside[1:]) if inside.startswith("^") else ("", inside)
    one = r"(\\x..|\\u....|\\U.{8}|\\.|[^\\])"
    parts = re.findall(f"{one}(?:-{one})?", listed, re.DOTALL)
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
    """The constraint of one answer, with its state."""

    def __init__(self, matcher: Any) -> None:  # noqa: ANN401 - the vendor's
        self.matcher = matcher

    def accept(self, token: int) -> bool:
        """Advance by a token; False if nothing may follow it, or it was not allowed."""
        return bool(self.matcher.consume_token(token)) and not self.matcher.is_stopped()


class Guides:
    """Creates guides for one tokenizer, and fills many rows at once."""

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
        """Raises ValueError if it cannot be parsed."""
        return Guide(self._read("grammar", gbnf).deep_copy())

    def of_schema(self, schema: Mapping[str, object]) -> Guide:
        """Raises ValueError if it cannot be parsed."""
        return Guide(self._read("schema", json.dumps(schema, ensure_ascii=False)).deep_copy())

    def fill(self, guides: Sequence[tuple[int, Guide]], bits: NDArray[np.int32]) -> None:
        """Write into each guide's row which tokens may follow."""
        rows = [(guide.matcher, row) for row, guide in guides]
        fill_next_token_bitmask_par(self._executor, rows, bits)

    def _matcher(self, kind: str, text: str) -> Any:  # noqa: ANN401 - the vendor's
        schema = f"%llguidance {{}}\nstart: %json {text}"  # as llama.cpp does
        matcher = LLMatcher(self._words, read(text) if kind == "grammar" else schema)
        if matcher.is_error():
            raise ValueError(f"the {kind} cannot be parsed: {matcher.get_error()[:300]}")
        return matcher
