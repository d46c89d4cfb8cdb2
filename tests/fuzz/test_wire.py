"""Chats and answers of any shape, through the converters between protocols."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.errors import Unconvertible
from omoide.wire.connecting import PROTOCOLS
from tests.unit.test_wire import CHAT, CONVERTERS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
NAMES = st.sampled_from(
    "messages model tools tool_choice stop temperature response_format reasoning_effort n seed "
    "stream max_tokens user logprobs parallel_tool_calls".split()
)
PART = st.fixed_dictionaries(
    {}, optional={"type": st.sampled_from(["text", "image_url", "file"]) | JSON, "text": JSON}
)
SAID = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system"]) | JSON},
    optional={"content": JSON | st.lists(PART), "tool_calls": JSON, "tool_call_id": JSON},
)


@pytest.mark.parametrize("protocol", CONVERTERS)
@given(more=st.dictionaries(NAMES, JSON), said=st.lists(SAID))
def test_any_chat_is_converted_or_refused(
    protocol: str, more: dict[str, Any], said: list[dict[str, Any]]
) -> None:
    """Never another error; and what comes out can be sent."""
    body: dict[str, Any] = {}
    refusal: Unconvertible | None = None
    try:
        body = CONVERTERS[protocol]({"model": "m", "messages": said, **more})
    except Unconvertible as error:
        refusal = error
    if refusal is None:
        json.dumps(body)
    else:
        assert refusal.param
        assert refusal.slug in ("unsupported", "invalid", "missing")


ITEM = st.dictionaries(st.text(max_size=5), JSON, max_size=3) | st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            "message_start content_block_delta message_stop error response.created "
            "response.output_text.delta response.output_item.added response.completed "
            "response.failed".split()
        )
    },
    optional={
        **dict.fromkeys(("message", "delta", "usage", "content_block", "error"), JSON),
        **dict.fromkeys(("response", "item", "output", "status"), JSON),
    },
)


@pytest.mark.parametrize("protocol", CONVERTERS)
@given(found=st.lists(ITEM))
def test_any_answer_is_read(protocol: str, found: list[dict[str, Any]]) -> None:
    """Whatever an endpoint sends becomes chunks, and never an error of ours."""
    reader = PROTOCOLS[protocol]().reader(CHAT)
    for item in found:
        for chunk in reader.read(item):
            json.dumps(chunk)
        json.dumps(PROTOCOLS[protocol]().answer(item))
