"""A request as JSON for llama.cpp's server."""

from __future__ import annotations

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
