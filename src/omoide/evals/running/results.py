"""The result of a run, as a file that says all it depends on and holds no text of a data set."""

from __future__ import annotations

import json
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from omoide.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = "omoide-bench-1"


@dataclass(frozen=True, kw_only=True)
class Record:
    """One item: its name and its scores."""

    id: str
    cluster: str
    group: str
    scores: dict[str, float]
    unscored: dict[str, str]
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """A measure of a method over a group of items."""

    group: str
    measure: str
    mean: float
    low: float
    high: float
    count: int
    clusters: int
    over: str
    unscored: int


@dataclass(frozen=True, kw_only=True)
class Test:
    """Two methods on the items that both have."""

    group: str
    measure: str
    one: str
    other: str
    difference: float
    low: float
    high: float
    p: float
    count: int
    clusters: int
    over: str


@dataclass(frozen=True, kw_only=True)
class Duel:
    """Two methods' replies before a judge, in both orders."""

    one: str
    other: str
    wins: int
    """Of the one: only if it is picked whichever stands first."""
    losses: int
    ties: int
    """The judge's, and those in which the order decided."""
    neither: int
    unscored: int
    consistent: float | None
    position_bias: float | None
    """From -1 (always the second) to 1 (always the first)."""


@dataclass(frozen=True, kw_only=True)
class MethodResult:
    """All of one method."""

    name: str
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    model_seconds: float
    judge_calls: int
    seconds: float
    """Of the wall clock."""
    digests_failed: int
    """Sessions that the model gave no usable memory of."""
    aggregates: list[Aggregate]
    whole: dict[str, dict[str, float]]
    """Measures of all items together, by group."""
    items: list[Record]


@dataclass(frozen=True, kw_only=True)
class Result:
    """A run."""

    format: str
    task: str
    model: str
    embedder: str
    judge: str
    seed: int
    limit: int | None
    options: dict[str, str]
    cases: int
    concurrency: int
    began: str
    seconds: float
    complete: bool
    """Whether every case was run: a time limit or an interruption may have ended it before."""
    command: str
    versions: dict[str, str]
    prompts: dict[str, str]
    """Of each prompt in use, its hash."""
    data: dict[str, str]
    """Of each file of the data set, its SHA-256."""
    settings: dict[str, str]
    methods: list[MethodResult]
    tests: list[Test]
    duels: list[Duel] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a reader must know: how a judge did on what is known, what was left out."""

    def method(self, name: str) -> MethodResult | None:
        """The method of that name."""
        return next((method for method in self.methods if method.name == name), None)


def write(path: Path, result: Result) -> None:
    """Write the file whole: an interruption leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.part")
    draft.write_text(
        json.dumps(asdict(result), ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    draft.replace(path)


def read(path: Path) -> Result:
    """The result in a file. Raises `BadInput` that names the first field that is wrong."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadInput(f"{path} is not JSON ({error}); give a file of omoide bench run") from error
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        came = raw.get("format") if isinstance(raw, dict) else type(raw).__name__
        raise BadInput(f"{path} is not a result of omoide bench: wanted {FORMAT}, came {came!r}")
    result = _checked(Result, raw, where=path.name)
    if not isinstance(result, Result):
        raise BadInput(f"{path} is not a result")
    return result


def _checked(kind: Any, raw: object, *, where: str) -> object:  # noqa: ANN401 - any type there is
    """`raw` as that type, or an error that says where it is not."""
    if is_dataclass(kind) and isinstance(kind, type):
        return _object(kind, raw, where)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is list:
        if not isinstance(raw, list):
            raise _wrong(where, "a list", raw)
        return [_checked(inner[0], one, where=f"{where}[{i}]") for i, one in enumerate(raw)]
    if origin is dict:
        if not isinstance(raw, dict):
            raise _wrong(where, "an object", raw)
        return {k: _checked(inner[1], v, where=f"{where}.{k}") for k, v in raw.items()}
    if origin in (Union, UnionType):
        if raw is None:
            return None
        return _checked(next(k for k in inner if k is not type(None)), raw, where=where)
    if kind is float and isinstance(raw, int) and not isinstance(raw, bool):
        return float(raw)
    if not isinstance(raw, kind) or (kind is int and isinstance(raw, bool)):
        raise _wrong(where, kind.__name__, raw)
    return raw


def _object(kind: type, raw: object, where: str) -> object:
    if not isinstance(raw, dict):
        raise _wrong(where, "an object", raw)
    hints = get_type_hints(kind)
    names = {f.name for f in fields(kind)}
    if extra := sorted(raw.keys() - names):
        raise BadInput(f"{where} has a field {extra[0]!r} that results do not have")
    needed = {f.name for f in fields(kind) if f.default_factory is MISSING}
    if missing := sorted(needed - raw.keys()):
        raise BadInput(f"{where} has no field {missing[0]!r}")
    given = names & raw.keys()  # what was added later may be missing in an older file
    return kind(**{n: _checked(hints[n], raw[n], where=f"{where}.{n}") for n in given})


def _wrong(where: str, wanted: str, came: object) -> BadInput:
    return BadInput(f"{where}: wanted {wanted}, came {str(came)[:40]!r}")
