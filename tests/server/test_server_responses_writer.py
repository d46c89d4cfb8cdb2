"""The events of OpenAI's Responses protocol: each says where in the answer it belongs."""

from __future__ import annotations

import json
from typing import Any

from omoide.server.protocols.answer import ChatAnswer, Piece, ToolCall
from omoide.server.protocols.responses_writer import ResponsesWriter


async def kept(response: dict[str, Any]) -> bool:
    """Stores it."""
    return bool(response)


def events(written: bytes) -> list[dict[str, Any]]:
    """The data of the events."""
    lines = written.decode().splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


async def test_what_is_said_after_a_call_is_the_second_item() -> None:
    """The call is the first; every event of each names its place and its id."""
    writer = ResponsesWriter(thread="t", echo={}, created=7, keep=kept)
    answer = ChatAnswer(model="m", tool_calls=[ToolCall(id="c1", name="weather")], finish="stop")
    written = writer.begin(answer)
    written += writer.piece(Piece(kind="tool", text='{"in": ', call=0), answer)
    written += writer.piece(Piece(kind="tool", text='"Oslo"}', call=0), answer)
    for text in ("It ", "rains."):
        written += writer.piece(Piece(kind="text", text=text), answer)
    written += writer.piece(Piece(kind="refusal", text="No more."), answer)
    written += await writer.end(answer)
    found = events(written)
    assert [event["sequence_number"] for event in found] == [*range(len(found))]
    places = {(e["output_index"], e["item_id"]) for e in found if "item_id" in e}
    done = found[-1]["response"]["output"]
    assert places == {(0, done[0]["id"]), (1, done[1]["id"])}
    assert done[0]["arguments"] == '{"in": "Oslo"}'
    assert [part.get("text", part.get("refusal")) for part in done[1]["content"]] == [
        "It rains.",
        "No more.",
    ]
    parts = {e["content_index"] for e in found if e.get("output_index") == 1 and "delta" in e}
    assert parts == {0, 1}
    assert all(item["status"] == "completed" for item in done)
