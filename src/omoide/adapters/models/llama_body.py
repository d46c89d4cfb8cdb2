"""A request as JSON for llama.cpp's server."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from omoide.adapters.models.llama import TokenPiece
    from omoide.ports import Request


def request_body(request: Request) -> dict[str, object]:
    """The request as JSON for llama.cpp's server."""
    body: dict[str, object] = {
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # shows progress, and allows stopping, while it reads the prompt
        "cache_prompt": True,
    }
    if request.stop:
        body["stop"] = list(request.stop)
    if request.seed is not None:
        body["seed"] = request.seed
    if request.frequency_penalty:
        body["frequency_penalty"] = request.frequency_penalty
    if request.grammar is not None:
        body["grammar"] = request.grammar
    elif request.schema is not None:
        schema = {"name": "answer", "schema": dict(request.schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def forced_body(request: Request, answer: Sequence[TokenPiece]) -> dict[str, object]:
    """The request as JSON, with a grammar that allows exactly this answer and the log-probability
    of each of its tokens, before the grammar was applied."""
    forced = replace(
        request,
        grammar=f"root ::= {token_grammar(answer)}",
        max_tokens=sum(len(piece) for _, piece in answer) + 1,
        temperature=0.0,
        stop=(),
        frequency_penalty=0.0,
    )
    return request_body(forced) | {"logprobs": True, "top_logprobs": 1}


def token_grammar(answer: Sequence[TokenPiece]) -> str:
    """What a grammar must have for an answer in these tokens. Letters alone would let the model
    spell it in other tokens, the likeliest one by one, which make the whole less likely. Only
    tokens that split a character stand as letters: llama.cpp's grammars cannot name those.

    >>> token_grammar([(5, b"Hi "), (8, b"\\xe4\\xba"), (9, b"\\xac")])
    '<[5]> "京"'
    """
    parts = []
    for split, run in groupby(answer, key=lambda token: _splits_a_character(token[1])):
        if split:
            parts.append(
                json.dumps(b"".join(piece for _, piece in run).decode(), ensure_ascii=False)
            )
        else:
            parts += [f"<[{token}]>" for token, _ in run]
    return " ".join(parts) or '""'


def _splits_a_character(piece: bytes) -> bool:
    try:
        piece.decode()
    except UnicodeDecodeError:
        return True
    return False
