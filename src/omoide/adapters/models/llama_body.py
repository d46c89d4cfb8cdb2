"""A request as JSON for llama.cpp's server."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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


def forced_body(request: Request, answer: str) -> dict[str, object]:
    """The request as JSON, with a grammar that allows this answer only and the log-probability of
    each of its tokens, before the grammar was applied."""
    forced = replace(
        request,
        grammar=f"root ::= {json.dumps(answer, ensure_ascii=False)}",
        max_tokens=len(answer.encode()) + 1,  # a token has at least one byte
        temperature=0.0,
        stop=(),
        frequency_penalty=0.0,
    )
    return request_body(forced) | {"logprobs": True, "top_logprobs": 1}
