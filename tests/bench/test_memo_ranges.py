"""The grammar of memos: ranges that divide the lines pass, and no others do."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.domain.memo import Span
from omoide.language import LANGUAGES
from omoide.mechanisms.memos.ranges import grammar
from omoide.mechanisms.memos.reading import read_entries
from omoide_bench.metrics import divides

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SYMBOL = re.compile(
    r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[a-z][a-z0-9-]*|\{\d+(?:,\d+)?\}|[()|]'
)


def matcher(gbnf: str) -> Callable[[str], bool]:
    """Whether a text is of the grammar: its strings as regular expressions, the other rules, which
    are alternatives of literals and names, as they stand."""
    rules = {
        name: _SYMBOL.findall(body)
        for name, body in (rule.split(" ::= ") for rule in gbnf.splitlines())
    }
    strings = {
        name: re.compile(
            "".join(re.escape(json.loads(s)) if s[0] == '"' else s for s in rules.pop(name))
        )
        for name in ("topic", "summary")
    }

    def matches(whole: str) -> bool:
        @cache
        def ends(name: str, at: int) -> frozenset[int]:
            if name in strings:
                found = strings[name].match(whole, at)
                return frozenset([found.end()] if found else [])
            reached, done = {at}, set[int]()
            for symbol in rules[name]:
                if symbol == "|":
                    done |= reached
                    reached = {at}
                elif symbol[0] == '"':
                    wanted = json.loads(symbol)
                    reached = {r + len(wanted) for r in reached if whole.startswith(wanted, r)}
                else:
                    reached = {end for r in reached for end in ends(symbol, r)}
            return frozenset(done | reached)

        return len(whole) in ends("root", 0)

    return matches


def written(spans: Iterable[tuple[int, int]], topic: str = "Cats", summary: str = "A cat.") -> str:
    """Memos with these ranges as a model would write them."""
    memos = [{"topic": topic, "start": a, "end": b, "summary": summary} for a, b in spans]
    return json.dumps({"memos": memos}, ensure_ascii=False)


def splits(lines: int, limit: int) -> list[list[tuple[int, int]]]:
    """Every way to divide the lines into at most so many stretches."""
    cuts = (c for n in range(limit) for c in combinations(range(1, lines), n))
    return [[(a + 1, b) for a, b in pairwise((0, *cut, lines))] for cut in cuts]


@pytest.mark.parametrize("lines", range(1, 6))
@pytest.mark.parametrize("limit", range(1, 7))
def test_just_the_right_ranges_pass(lines: int, limit: int) -> None:
    """Of one or two memos with any numbers, and of every division into more, those that divide the
    lines into at most `limit`."""
    passes = matcher(grammar(lines, limit))
    ranges = [(a, b) for a in range(lines + 2) for b in range(lines + 2)]
    tried = [[one] for one in ranges] + [[one, other] for one in ranges for other in ranges]
    for spans in [*tried, *splits(lines, lines)]:
        right = divides([Span(first=a, last=b) for a, b in spans], lines=lines)
        assert passes(written(spans)) is (right and len(spans) <= limit), spans
    assert not passes('{"memos": []}')


@given(st.data())
def test_a_long_dialogue_is_divided_too(data: st.DataObject) -> None:
    """Any division passes; with one of its numbers changed it does not."""
    lines = data.draw(st.integers(2, 60))
    limit = data.draw(st.integers(1, 8))
    cuts = data.draw(st.sets(st.integers(1, lines - 1), max_size=limit - 1))
    spans = [(a + 1, b) for a, b in pairwise((0, *sorted(cuts), lines))]
    passes = matcher(grammar(lines, limit))
    assert passes(written(spans))
    place = data.draw(st.integers(0, len(spans) - 1))
    moved = data.draw(st.integers(-9, 9).filter(bool))
    first, last = spans[place]
    spans[place] = (first + moved, last) if data.draw(st.booleans()) else (first, last + moved)
    assert not passes(written(spans))


@given(
    topic=st.text(min_size=1, max_size=40),
    summary=st.text(min_size=1, max_size=200),
    ascii_only=st.booleans(),
)
def test_any_words_pass(topic: str, summary: str, ascii_only: bool) -> None:
    """Whatever `json.dumps` makes of them, if they do not begin with a blank; the one control
    character that it does not escape is none of a note's."""
    topic, summary = (t.replace("\x7f", "").lstrip(" ") or "-" for t in (topic, summary))
    memo = {"topic": topic, "start": 1, "end": 3, "summary": summary}
    text = json.dumps({"memos": [memo]}, ensure_ascii=ascii_only)
    assert matcher(grammar(3, 1))(text)


@pytest.mark.parametrize("words", ["", " ", "\n", 'a"b', "a\nb", "\\x", "\\u12", "a\x7f"])
def test_what_is_no_text_does_not_pass(words: str) -> None:
    """Nothing, blanks, and what would break the JSON or hide in it."""
    text = written([(1, 3)], summary="@").replace("@", words)
    assert not matcher(grammar(3, 1))(text)


def test_what_passes_is_read() -> None:
    """By the same reader that reads every model's memos."""
    entries = read_entries(written([(1, 2), (3, 4)], topic="“Cats” and 猫"))
    assert [(e.span.first, e.span.last) for e in entries] == [(1, 2), (3, 4)]


def test_rules_are_shared() -> None:
    """A dialogue of 60 lines has some hundreds of rules, not one for each division."""
    assert len(grammar(60, 8).splitlines()) <= 2 * 60 * 8


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_string_goes_on_for_ever(language: str) -> None:
    """A summary of a sentence or two passes; one that has lost its way does not."""
    passes = matcher(grammar(4, 1, language=language))
    assert passes(written([(1, 4)], summary="字" * 150))
    assert not passes(written([(1, 4)], summary="a" * 401))
    assert not passes(written([(1, 4)], topic="a" * 81))
