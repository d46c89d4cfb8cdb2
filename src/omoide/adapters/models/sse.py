"""Server-sent events, out of the bytes of a response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

_LONGEST = 4 * 1024 * 1024
"""Bytes of one event."""


async def events(blocks: AsyncIterator[bytes]) -> AsyncGenerator[str]:
    """The data of each event; comments (pings) and other fields are left out.

    Lines are split here at newlines alone: a general line splitter also breaks at U+2028 and
    its kin, which stand unescaped inside the JSON of some endpoints.
    """
    rest = b""
    data: list[str] = []
    held = 0
    async for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            text = line.rstrip(b"\r").decode("utf-8", "replace")
            if text.startswith("data:"):
                data.append(text[5:].removeprefix(" "))
                held += len(line)
            elif not text and data:
                yield "\n".join(data)
                data, held = [], 0
        if held + len(rest) > _LONGEST:
            raise ModelUnavailable("the endpoint sent an event of more than 4 MiB")
    last = rest.rstrip(b"\r").decode("utf-8", "replace")
    if last.startswith("data:"):
        data.append(last[5:].removeprefix(" "))
    if data:  # some servers leave out the last blank line
        yield "\n".join(data)
