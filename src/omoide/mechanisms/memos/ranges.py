"""A grammar for memos that makes their line ranges right by construction.

A JSON schema can bound a number but not relate it to the one before it; a grammar can. It can also
limit the length of every string: a model that rambles in a summary never reaches the last line
(what each is worth: docs/experiments/*-memo-range-grammar.md).
"""

from __future__ import annotations

from omoide.language.pack import DEFAULT, pack

_ESCAPE = r'"\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})'


def _string(max_chars: int) -> str:
    """A JSON string that does not begin with a space, so that it is not blank."""
    first, other = rf'[^"\\\x00-\x20\x7f] | {_ESCAPE}', rf'[^"\\\x00-\x1f\x7f] | {_ESCAPE}'
    return rf'"\"" ({first}) ({other}){{0,{max_chars - 1}}} "\""'


def grammar(lines: int, limit: int, *, language: str = DEFAULT) -> str:
    """GBNF grammar for one to `limit` memos, formatted as by `json.dumps`. The first begins at
    line 1, each other one right after the one before, and the last ends at `lines`.

    `from-5-2` is the second memo and all after it, if it begins at line 5; `end-7-2` is the rest of
    these, if the second ends at line 7 or later. So there are only about `2 * lines * limit` rules.
    """
    most = min(limit, lines)
    note = pack(language).note
    rules = [
        r'root ::= "{\"memos\": [" from-1-1',
        rf"topic ::= {_string(note.topic_max_chars)}",
        rf"summary ::= {_string(note.memo_max_chars)}",
        r'head ::= "{\"topic\": " topic ", \"start\": "',
        r'tail ::= ", \"summary\": " summary "}"',
        r'more ::= tail ", "',
        r'last ::= tail "]}"',
    ]
    for number in range(1, most + 1):
        for line in range(number, lines + 1):
            only = number == most
            if number > 1 or line == 1:
                end = f'{lines}" last' if only else f'" end-{line}-{number}'
                rules.append(rf'from-{line}-{number} ::= head "{line}, \"end\": {end}')
            if not only:
                rules.append(f"end-{line}-{number} ::= {_end(line, number, lines)}")
    return "\n".join(rules)


def _end(line: int, number: int, lines: int) -> str:
    if line == lines:
        return f'"{line}" last'
    return f'"{line}" more from-{line + 1}-{number + 1} | end-{line + 1}-{number}'
