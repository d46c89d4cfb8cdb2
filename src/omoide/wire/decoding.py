"""Decompresses a response in pieces of bounded size.

A few kilobytes can decompress to gigabytes. Each piece here is small however well it compresses, so
whoever reads can stop in time.
"""

from __future__ import annotations

import zlib
from contextlib import aclosing
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

PIECE = 64 * 1024
"""Most bytes of one decompressed piece."""
_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


async def decoded(response: httpx.Response) -> AsyncGenerator[bytes]:
    """The body of a response whose stream was not read yet. Raises `httpx.DecodingError` if it is
    damaged, or encoded in another way than gzip or deflate."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    async with aclosing(_raw(response)) as blocks:
        if encoding in ("", "identity"):
            async for block in blocks:
                yield block
            return
        if encoding not in _WINDOWS:
            raise httpx.DecodingError(f"content encoding {encoding[:40]!r} was not asked for")
        expander = zlib.decompressobj(_WINDOWS[encoding])
        try:
            async for block in blocks:
                rest, piece = block, b""
                while rest or len(piece) == PIECE:  # a full piece may not be the last of its input
                    if piece := expander.decompress(rest, PIECE):
                        yield piece
                    rest = expander.unconsumed_tail
        except zlib.error as error:
            raise httpx.DecodingError("the compressed body is damaged") from error
        if not expander.eof:
            raise httpx.DecodingError("the compressed body is not complete")


async def _raw(response: httpx.Response) -> AsyncGenerator[bytes]:
    # Not by `aiter_raw`, which cuts and counts: whoever reads closes the response.
    assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - of an async transport
    async for block in response.stream:
        yield block
