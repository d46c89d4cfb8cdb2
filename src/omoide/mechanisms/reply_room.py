"""How much of a model's window is kept free for its reply."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.language import estimate_tokens

if TYPE_CHECKING:
    from omoide.ports import Request

SHORT = 400
"""Tokens of a reply that are always kept free."""
SHARE = 8
"""Of a larger window, the share of it that is kept free: a whole long reply would leave a small
window no room for what it is about."""
ROUNDING = 600
"""Tokens by which the estimate of a prompt may be too low."""


def kept_for_reply(tokens: int, *, window: int) -> int:
    """How many tokens of the window are kept free for a reply of at most that many."""
    return min(tokens, max(SHORT, window // SHARE))


def with_room(request: Request, tokens: int, *, window: int) -> Request:
    """The request, whose reply may have so many tokens as far as its prompt leaves room for them:
    some endpoints refuse to begin a reply for which there is none."""
    taken = sum(estimate_tokens(message.content) for message in request.messages)
    room = max(request.max_tokens, window - taken - ROUNDING)
    return replace(request, max_tokens=min(tokens, room))
