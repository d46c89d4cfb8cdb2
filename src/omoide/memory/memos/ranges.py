"""Memos whose line ranges are right by construction.

A JSON schema can bound a number but not tie it to the one before it; a grammar can. And it can
hold every string to a length: a model that loses itself in a summary never comes to the last line
(docs/LOG.md has what each of the two was worth).
"""

from __future__ import annotations

_LONGEST = {"en": (80, 400), "vi": (80, 400), "ko": (40, 200), "zh": (30, 150), "ja": (40, 160)}
"""Characters of a topic and of a summary, so that a model that loses itself in one still comes to
the end of the dialogue: some 130 tokens a memo in any of the languages."""
_ESCAPE = r'"\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})'


def _string(longest: int) -> str:
    """A JSON string that does not begin with a blank, so that there is something in it."""
    first, other = rf'[^"\\\x00-\x20\x7f] | {_ESCAPE}', rf'[^"\\\x00-\x1f\x7f] | {_ESCAPE}'
    return rf'"\"" ({first}) ({other}){{0,{longest - 1}}} "\""'


def grammar(lines: int, limit: int, *, language: str = "en") -> str:
    """GBNF: one to `limit` memos as `json.dumps` writes them. The first begins at line 1, each
    other one after the end of the last, and the last ends at `lines`.

    `from-5-2` is the second memo and all after it, if it begins at line 5; `end-7-2` the rest of
    these, if the second ends at line 7 or later. So there are only some `2 * lines * limit` rules.
    """
    most = min(limit, lines)
    topic, summary = _LONGEST[language]
    rules = [
        r'root ::= "{\"memos\": [" from-1-1',
        rf"topic ::= {_string(topic)}",
        rf"summary ::= {_string(summary)}",
        r'head ::= "{\"topic\": " topic ", \"start\": "',
        r'tail ::= ", \"summary\": " summary "}"',
        r'more ::= tail ", "',
        r'last ::= tail "]}"',
    ]
    for place in range(1, most + 1):
        for line in range(place, lines + 1):
            only = place == most
            if place > 1 or line == 1:
                end = f'{lines}" last' if only else f'" end-{line}-{place}'
                rules.append(rf'from-{line}-{place} ::= head "{line}, \"end\": {end}')
            if not only:
                rules.append(f"end-{line}-{place} ::= {_end(line, place, lines)}")
    return "\n".join(rules)


def _end(line: int, place: int, lines: int) -> str:
    if line == lines:
        return f'"{line}" last'
    return f'"{line}" more from-{line + 1}-{place + 1} | end-{line + 1}-{place}'
