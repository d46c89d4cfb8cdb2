"""The result file of a run. It records all that the figures depend on, and no data-set text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from omoide.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = "omoide-bench-1"


@dataclass(frozen=True, kw_only=True)
class ItemRecord:
    """The scores and tokens of one item."""

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
class PairedTest:
    """The difference of two methods on the items that both have."""

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
    """Pairwise verdicts of a judge on two methods' replies, in both orders."""

    one: str
    other: str
    wins: int
    """Wins of `one`: it is picked in both orders."""
    losses: int
    ties: int
    """Pairs where the order decided."""
    unscored: int
    consistent: float | None
    position_bias: float | None
    """From -1 (always the second) to 1 (always the first)."""
    slight_wins: int = 0
    """How many of the wins are slight in both orders."""
    slight_losses: int = 0
    neither: int = 0
    """Pairs in which neither was good, from judges that could say so."""


@dataclass(frozen=True, kw_only=True)
class MethodResult:
    """The result of one method."""

    name: str
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    model_seconds: float
    judge_calls: int
    seconds: float
    """Wall-clock time."""
    digests_failed: int
    """Sessions that could not be turned into memory."""
    aggregates: list[Aggregate]
    whole: dict[str, dict[str, float]]
    """Corpus-level measures, by group."""
    items: list[ItemRecord]
    cpu_seconds: float = 0.0
    """CPU time of this process; 0 if methods ran at the same time, or in older results."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of a run."""

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
    """Whether every case was run; a time limit or an interruption may have ended it early."""
    command: str
    versions: dict[str, str]
    prompts: dict[str, str]
    """Hash of each prompt in use."""
    data: dict[str, str]
    """SHA-256 of each file of the data set."""
    settings: dict[str, str]
    methods: list[MethodResult]
    tests: list[PairedTest]
    duels: list[Duel] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a reader must know, such as the judge's calibration or what was left out."""

    def method(self, name: str) -> MethodResult | None:
        """The result of the method with that name, if any."""
        return next((method for method in self.methods if method.name == name), None)


def write(path: Path, result: Result) -> None:
    """Write the file atomically: an interruption leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.part")
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    draft.replace(path)


def read(path: Path) -> Result:
    """Read a result file. Raises `BadInput` that names the first wrong field; unknown fields are
    ignored."""
    raw = path.read_bytes()
    try:
        kind = msgspec.json.decode(raw, type=_Kind).format
        if kind == FORMAT:
            return msgspec.json.decode(raw, type=Result)
    except msgspec.ValidationError as error:
        raise BadInput(f"{path} is not a result of omoide bench: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(
            f"{path} is not JSON ({error}); give a result file of omoide bench run"
        ) from error
    raise BadInput(f"{path} is not a result of omoide bench: wanted {FORMAT}, got {kind!r}")


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """The format field of any JSON file."""

    format: str = ""
