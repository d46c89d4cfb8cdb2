"""Parses server-sent events from the bytes of a response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

_LONGEST = 4 * 1024 * 1024
"""Maximum bytes of one event."""


async def events(blocks: AsyncIterator[bytes]) -> AsyncGenerator[str]:
    """The data of each event; comments (pings) and other fields are skipped.

    Lines are split at newlines only. `str.splitlines` also splits at U+2028 and similar
    characters, which occur unescaped in the JSON of some endpoints.
    """
    rest = bytearray()
    data: list[str] = []
    size = 0
    async for block in blocks:
        *lines, last = block.split(b"\n")
        if lines:  # else the line continues: it is joined once, at its end
            lines[0] = bytes(rest) + lines[0]
            rest.clear()
        rest += last
        for line in lines:
            text = line.rstrip(b"\r").decode("utf-8", "replace")
            if text.startswith("data:"):
                data.append(text[5:].removeprefix(" "))
                size += len(line)
            elif not text and data:
                yield "\n".join(data)
                data, size = [], 0
        if size + len(rest) > _LONGEST:
            raise ModelUnavailable("the endpoint sent an event of more than 4 MiB")
    text = rest.rstrip(b"\r").decode("utf-8", "replace")
    if text.startswith("data:"):
        data.append(text[5:].removeprefix(" "))
    if data:  # some servers omit the final blank line
        yield "\n".join(data)
