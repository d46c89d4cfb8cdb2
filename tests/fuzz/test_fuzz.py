"""Readers of foreign input take any input."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.fuzz.targets import SEEDS, TARGETS

PIECES = [
    *b'{}[]",:\\0\n'.decode(),
    *"null true false 1e999 -1 NaN 99999999999999999999 \\ud800 \\u0000 \x00 \ufeff ﷽ 猫".split(
        " "
    ),
    *(
        "kind header schema records role content text time id sender chat_messages mapping parent "
        "children current_node message author parts topic start end summary events memos ratings"
    ).split(),
]
TEXTS = st.lists(
    st.sampled_from(PIECES).map(str.encode)
    | st.sampled_from([f'"{p}": ' for p in PIECES]).map(
        lambda text: text.encode("utf-8", "replace")
    ),
    max_size=30,
).map(b"".join)


@st.composite
def damaged(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """A good input with pieces cut out, doubled, moved or put in."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        first = draw(st.integers(0, len(data)))
        last = draw(st.integers(first, len(data)))
        piece = draw(TEXTS | st.binary(max_size=8) | st.just(data[first:last] * 2))
        data = data[:first] + piece + data[last:]
    return data


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", TARGETS)
def test_any_input_is_read_or_refused(name: str) -> None:
    """Nothing but the error that is meant for it comes out of a reader."""

    @settings(
        max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    @given(damaged(SEEDS[name]) | TEXTS | st.binary(max_size=200))
    def tried(data: bytes) -> None:
        TARGETS[name](data)

    tried()
    for seed in SEEDS[name]:
        TARGETS[name](seed)


def test_the_deepest_nesting_is_refused() -> None:
    """JSON that would exhaust the stack is an error of ours, for files and for answers."""
    for name in ("import", "import-lines", "memos", "events"):
        TARGETS[name](b"[" * 200_000)
        TARGETS[name](b'{"a":' * 100_000)


def test_the_longest_runs_take_no_time() -> None:
    """Long runs of what a pattern looks for do not make it search for ever."""
    for name in ("memos", "events", "summary", "words"):
        for piece in (b"a", b" ", b"<", b"- ", b'"topic": "', b"\n", b"1", "猫。".encode()):
            TARGETS[name](piece * 3000)
