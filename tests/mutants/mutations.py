"""Small changes of a source file, found in its syntax tree: what a slip of the hand could do."""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
}
SQL = re.compile(r"\b(SELECT|UPDATE|DELETE|INSERT|WHERE|ORDER BY)\b")
IN_SQL = (
    (r"<=", "<"),
    (r">=", ">"),
    (r"(?<![<>!])=(?!=)", "<>"),
    (r"<(?![=>])", "<="),
    (r"(?<!<)>(?!=)", ">="),
    (r"\bAND\b", "OR"),
    (r"\bDESC\b", ""),
    (r"\bIS NOT NULL\b", "IS NULL"),
    (r"\bIS NULL\b", "IS NOT NULL"),
)
AROUND = 20
"""Characters of an expression that are told on each side of what changed in it."""
QUIET = ("logger", "log", "warnings", "telemetry", "assert_never")
"""Calls on these only tell people something: they are neither removed nor changed."""
FOR_PEOPLE = ("__repr__",)
"""Functions whose result only people read, when they look for a fault."""
UNSEEN_ARGUMENTS = {("zip", "strict=True"), ("field", "repr=False"), ("field", "repr=True")}
"""Arguments, with the function, that may be turned round unseen: a strict `zip` checks what holds
in sound code, and a `repr` is for people."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change of one file."""

    path: str
    """Under `src/omoide`."""
    kind: str
    line: int
    lines: tuple[int, ...]
    """Those of which one must be run for the change to matter."""
    constants: tuple[str, ...]
    """The names that the file gives to a value which is changed outside of functions."""
    start: int
    end: int
    """Where the old text is, in bytes of UTF-8."""
    old: str
    new: str
    place: str
    """The function and the line's text, which stay when other lines come and go."""

    @property
    def name(self) -> str:
        """The same as long as nobody touches the line."""
        if self.new == "pass":
            return f"{self.path} · {self.place} · left out"
        old, new = _differing(self.old, self.new)
        return f"{self.path} · {self.place} · `{old}` → `{new}`"

    def rank(self, seed: int) -> str:
        """A random order that a change elsewhere does not shuffle."""
        return hashlib.sha256(f"{seed} {self.name}".encode()).hexdigest()

    def applied(self, source: bytes) -> bytes:
        """The file with the change."""
        return source[: self.start] + self.new.encode() + source[self.end :]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}…"


def _differing(old: str, new: str) -> tuple[str, str]:
    """Where two texts differ, with a little of what is around."""
    old, new = " ".join(old.split()), " ".join(new.split())
    before = _shared(old, new)
    after = _shared(old[before:][::-1], new[before:][::-1])
    start, end = max(before - AROUND, 0), max(after - AROUND, 0)
    return _short(old[start : len(old) - end]), _short(new[start : len(new) - end])


def _shared(one: str, other: str) -> int:
    """How many characters they begin with alike."""
    unlike = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(unlike, min(len(one), len(other)))


def mutants_of(file: Path, path: str) -> list[Mutant]:
    """All changes of the file, the first of each name; not all of them compile."""
    source = file.read_bytes()
    found: dict[str, Mutant] = {}
    for mutant in _Finder(source, path).found():
        if mutant.old != mutant.new:
            found.setdefault(mutant.name, mutant)
    return list(found.values())


def compiles(mutant: Mutant, source: bytes) -> bool:
    """Whether the changed file is still Python."""
    try:
        compile(mutant.applied(source), mutant.path, "exec")
    except SyntaxError:
        return False
    return True


class _Finder:
    """Walks through one file."""

    def __init__(self, source: bytes, path: str) -> None:
        self._source = source
        self._path = path
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def found(self) -> Iterator[Mutant]:
        """Every change, also those that do not compile."""
        yield from self._body(ast.parse(self._source).body, function=None)

    def _body(
        self, body: list[ast.stmt], function: ast.FunctionDef | ast.AsyncFunctionDef | None
    ) -> Iterator[Mutant]:
        for statement in body:
            if isinstance(statement, ast.Import | ast.ImportFrom) or _is_text(statement):
                continue
            if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
                continue
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                if statement.name in FOR_PEOPLE:
                    continue
                arguments = statement.args
                lines = tuple(range(statement.body[0].lineno, (statement.end_lineno or 0) + 1))
                for default in (*arguments.defaults, *arguments.kw_defaults):
                    if default is not None:
                        yield from self._expression(default, statement, lines, ())
                yield from self._body(statement.body, statement)
            elif isinstance(statement, ast.ClassDef):
                yield from self._body(statement.body, function)
            else:
                yield from self._statement(statement, function)

    def _statement(
        self, statement: ast.stmt, function: ast.FunctionDef | ast.AsyncFunctionDef | None
    ) -> Iterator[Mutant]:
        if _is_quiet(statement):
            return
        constants = () if function else assigned(statement)
        nested: list[ast.stmt] = []
        for name, value in ast.iter_fields(statement):
            if name in ("annotation", "type_params"):
                continue
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.stmt):
                    nested.append(part)
                elif isinstance(part, ast.ExceptHandler | ast.match_case):
                    nested += part.body
                elif isinstance(part, ast.withitem):
                    yield from self._expression(part.context_expr, function, None, constants)
                elif isinstance(part, ast.expr):
                    yield from self._expression(part, function, None, constants)
        yield from self._whole(statement, function)
        yield from self._body(nested, function)

    def _whole(
        self, statement: ast.stmt, function: ast.FunctionDef | ast.AsyncFunctionDef | None
    ) -> Iterator[Mutant]:
        """Calls that are left out, conditions turned round, results that are None."""
        if _call(statement) is not None:
            yield self._change("call left out", statement, "pass", function)
        elif isinstance(statement, ast.If | ast.While):
            old = self._text(statement.test)
            yield self._change("condition", statement.test, f"not ({old})", function)
        elif isinstance(statement, ast.Return) and not _is_number(statement.value):
            assert statement.value is not None
            yield self._change("result", statement.value, "None", function)

    def _expression(
        self,
        expression: ast.expr,
        function: ast.FunctionDef | ast.AsyncFunctionDef | None,
        lines: tuple[int, ...] | None,
        constants: tuple[str, ...],
    ) -> Iterator[Mutant]:
        def change(kind: str, node: ast.expr, new: str) -> Mutant:
            return self._change(kind, node, new, function, lines=lines, constants=constants)

        for node in _walk(expression):
            text = self._text(node)
            if isinstance(node, ast.Compare) and len(node.ops) == 1:
                pair = COMPARISONS[type(node.ops[0])]
                new = self._between(node, node.left, node.comparators[0], *pair)
                yield change("comparison", node, new)
            elif isinstance(node, ast.BoolOp):
                pair = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
                new = self._between(node, node.values[0], node.values[1], *pair)
                yield change("and, or", node, new)
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                yield change("not", node, f"({self._text(node.operand)})")
            elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
                new = self._between(node, node.left, node.right, *OPERATORS[type(node.op)])
                yield change("arithmetic", node, new)
            elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
                yield change("constant", node, _other(node.value, text))
            elif isinstance(node, ast.Constant | ast.JoinedStr) and SQL.search(text):
                for pattern, new in IN_SQL:
                    if re.search(pattern, text):
                        yield change("SQL", node, re.sub(pattern, new, text, count=1))

    def _between(self, node: ast.expr, left: ast.expr, right: ast.expr, old: str, new: str) -> str:
        """The expression with another operator between two of its parts."""
        start, end = self._span(node)
        after, before = self._span(left)[1], self._span(right)[0]
        middle = self._source[after:before].decode()
        changed = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, middle, count=1)
        if changed == middle:
            changed = middle.replace(old, new, 1)
        return self._source[start:after].decode() + changed + self._source[before:end].decode()

    def _change(
        self,
        kind: str,
        node: ast.stmt | ast.expr,
        new: str,
        function: ast.FunctionDef | ast.AsyncFunctionDef | None,
        *,
        lines: tuple[int, ...] | None = None,
        constants: tuple[str, ...] = (),
    ) -> Mutant:
        start, end = self._span(node)
        line = self._source.splitlines()[node.lineno - 1].decode().strip()
        where = function.name if function else "module"
        return Mutant(
            path=self._path,
            kind=kind,
            line=node.lineno,
            lines=lines or tuple(range(node.lineno, (node.end_lineno or node.lineno) + 1)),
            constants=constants,
            start=start,
            end=end,
            old=self._text(node),
            new=new,
            place=f"{where} · {_short(line)}",
        )

    def _span(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _text(self, node: ast.stmt | ast.expr) -> str:
        start, end = self._span(node)
        return self._source[start:end].decode()


def _walk(node: ast.AST) -> Iterator[ast.expr]:
    """All expressions in it, but not the inside of f-strings: Python 3.11 misstates its place."""
    if isinstance(node, ast.expr):
        yield node
    if not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            if not _is_unseen(node, child):
                yield from _walk(child)


def _is_unseen(node: ast.AST, child: ast.AST) -> bool:
    """Whether the child is an argument of a call that no behaviour depends on."""
    return (
        isinstance(node, ast.Call)
        and isinstance(child, ast.keyword)
        and (_root(node.func), ast.unparse(child)) in UNSEEN_ARGUMENTS
    )


def _call(statement: ast.stmt) -> ast.Call | None:
    """The call that a statement consists of."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    value = value.value if isinstance(value, ast.Await) else value
    return value if isinstance(value, ast.Call) else None


def _is_quiet(statement: ast.stmt) -> bool:
    """Whether it only tells people something."""
    call = _call(statement)
    return call is not None and _root(call.func).lstrip("_").startswith(QUIET)


def _is_number(value: ast.expr | None) -> bool:
    """Whether a result is nothing, or a truth or a number, which has a change of its own: that it
    is None as well would often be the same, since `if` does not tell None, False and 0 apart."""
    return value is None or (
        isinstance(value, ast.Constant) and isinstance(value.value, bool | int | float)
    )


def _other(value: bool | float, text: str) -> str:
    """Another value: one more for small whole numbers, ten times as much for sizes and shares."""
    if isinstance(value, bool):
        return str(not value)
    return (
        f"({text} + 1)"
        if value == 0 or (isinstance(value, int) and value < 10)
        else (f"({text} * 10)")
    )


def _is_text(statement: ast.stmt) -> bool:
    """Whether it is a docstring."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def assigned(statement: ast.stmt) -> tuple[str, ...]:
    """The names that a statement outside of functions gives a value to."""
    targets = [*getattr(statement, "targets", ()), getattr(statement, "target", None)]
    return tuple(
        node.id
        for target in targets
        if target is not None
        for node in ast.walk(target)
        if isinstance(node, ast.Name)
    )


def _root(function: ast.expr) -> str:
    """The name that a call begins with, without `self`."""
    words = ast.unparse(function).split(".")
    return words[1] if words[0] == "self" and len(words) > 1 else words[0]
