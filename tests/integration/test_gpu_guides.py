"""What the benchmarks' GPU server makes of our grammars, with the tiny model's tokenizer."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from omoide.domain import Speaker
from omoide.mechanisms.memos import ranges
from omoide.mechanisms.summary import small_form
from tests.tiny import tiny_model

if TYPE_CHECKING:
    from collections.abc import Callable

    Passes = Callable[[str, str], bool]

FOLDER = Path(__file__).parents[2] / "benchmarks"
if not FOLDER.exists():
    pytest.skip("benchmarks are not part of this checkout", allow_module_level=True)
for name in ("transformers", "llguidance"):
    pytest.importorskip(name, reason=f"{name} is not installed (pip install {name})")
sys.path.insert(0, str(FOLDER))


@pytest.fixture(scope="module")
def passes() -> Passes:
    """Whether a grammar's guide lets a text pass, token by token, and may end there."""
    from gpu_guides import Guides

    from omoide_tune.formats.dense import tokenizer
    from omoide_tune.formats.gguf_files import read_contents

    words: Any = tokenizer(read_contents(tiny_model()))
    guides = Guides(words, vocabulary=49152)

    def passed(gbnf: str, text: str) -> bool:
        guide = guides.of_grammar(gbnf)
        bits = np.zeros((1, guides.width), dtype=np.int32)
        for token in words.encode(text, add_special_tokens=False):
            guides.fill([(0, guide)], bits)
            if not int(bits[0, token // 32]) >> token % 32 & 1:
                return False
            assert guide.matcher.consume_token(token)
        return bool(guide.matcher.is_accepting())

    return passed


def written(*ends: int) -> str:
    """Memos that end at these lines."""
    memos = [
        {"topic": 'A "cat", 猫', "start": first + 1, "end": last, "summary": "User has\ta cat."}
        for first, last in pairwise((0, *ends))
    ]
    return json.dumps({"memos": memos}, ensure_ascii=False)


@pytest.mark.parametrize(
    ("lines", "limit", "as_lark"), [(12, 3, False), (20, 5, True), (60, 8, True)]
)
def test_the_memos_grammar_holds(passes: Passes, lines: int, limit: int, as_lark: bool) -> None:
    """Right ranges pass, a gap, an overlap, a wrong end and a memo too many do not; as a regular
    expression and where this would be too large."""
    from gpu_guides import read

    gbnf = ranges.grammar(lines, limit)
    assert read(gbnf).startswith("%llguidance") is as_lark
    good = written(2, 11, lines)
    assert passes(gbnf, good)
    assert passes(gbnf, written(lines))
    assert passes(gbnf, written(*range(1, limit), lines))
    assert not passes(gbnf, written(*range(1, limit + 1), lines))
    for right, wrong in (
        ('"start": 3', '"start": 4'),
        ('"start": 3', '"start": 2'),
        (f'"end": {lines}', f'"end": {lines - 1}'),
        (f'"end": {lines}', f'"end": {lines}0'),
        ("User has", "\x01"),
    ):
        assert not passes(gbnf, good.replace(right, wrong))


def test_a_grammar_means_the_same_in_both_forms(
    passes: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the small one of eight lines takes and refuses as a regular expression, so as Lark."""
    import gpu_guides

    gbnf = ranges.grammar(8, 2)
    texts = [written(8), written(3, 8), written(3), written(1, 2, 8), written(9)]
    found = [passes(gbnf, text) for text in texts]
    monkeypatch.setattr(gpu_guides, "LARGEST", 0)
    assert [passes(gbnf + "\n", text) for text in texts] == found
    assert found == [True, True, False, False, False]


def test_the_notes_grammar_holds(passes: Passes) -> None:
    """A line about the user passes, one about nobody does not."""
    gbnf = small_form.grammar(Speaker.USER, language="en")
    assert passes(gbnf, "User has a cat called Miso.")
    assert not passes(gbnf, "Nobody has a cat called Miso.")


@pytest.mark.parametrize(
    ("gbnf", "why"),
    [
        ("root ::= a\na ::= b\nb ::= a", "is recursive"),
        ("root ::= a", "no rule a"),
        ('a ::= "x"', "called root"),
        ("root ::= ~", "not GBNF"),
    ],
)
def test_what_cannot_be_read_is_told(gbnf: str, why: str) -> None:
    """Recursion, rules that are not there, and what is no grammar."""
    from gpu_guides import read

    with pytest.raises(ValueError, match=why):
        read(gbnf)
