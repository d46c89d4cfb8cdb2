"""One function a reader: any bytes are read, or refused with the error that is meant for it."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.adapters.models.gguf import read_head
from omoide.adapters.models.sse import events as sse_events
from omoide.domain import Sentence, Speaker
from omoide.errors import BadInput, BadReply, ModelUnavailable
from omoide.language import LANGUAGES, detect_language, split_sentences
from omoide.language.terms import informativeness, terms
from omoide.language.times import day_numbers
from omoide.mechanisms.baselines.generative_agents_answers import read_insights, read_ratings
from omoide.mechanisms.events import form as events_form
from omoide.mechanisms.memos.reading import read_choice, read_entries
from omoide.mechanisms.summary.forms import PaperForm
from omoide.mechanisms.summary.small_form import SmallForm
from omoide.prompts.quoting import as_list, without_template_tokens
from omoide.prompts.transcript import Line
from omoide.transfer import ExportContents, read
from omoide.transfer.foreign_conversations import sorted_conversations

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

LONGEST = 1000
WHEN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def import_file(data: bytes, name: str = "export.json") -> None:
    """A file that somebody says is an export, ours or another program's."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        with suppress(BadInput):
            held = read(path, max_chars=LONGEST)
            if not isinstance(held, ExportContents):
                for conversation in sorted_conversations(held.conversations, WHEN):
                    for message in conversation.messages:
                        assert message.time is not None
                        assert 0 < len(message.text) <= LONGEST


def import_lines(data: bytes) -> None:
    """JSON lines."""
    import_file(data, "export.jsonl")


def import_zip(data: bytes) -> None:
    """An archive."""
    import_file(data, "export.zip")


def memos(data: bytes) -> None:
    """A model's memos and choices."""
    text = data.decode("utf-8", "replace")
    with suppress(BadReply):
        assert read_entries(text)
    with suppress(BadReply):
        assert all(1 <= number <= 9 for number in read_choice(text, count=9))


def events(data: bytes) -> None:
    """A model's events, ratings and insights."""
    text = data.decode("utf-8", "replace")
    with suppress(BadReply):
        assert all(draft.text for draft in events_form.read_events(text))
    with suppress(BadReply):
        assert len(read_ratings(text, 3)) == 3
    with suppress(BadReply):
        read_insights(text, 3)


def summary(data: bytes) -> None:
    """A model's memory, in both forms and every language."""
    text = data.decode("utf-8", "replace")
    session = [
        Line(speaker=Speaker.USER, text="I have two cats."),
        Line(speaker=Speaker.ASSISTANT, text="How nice."),
    ]
    old = [Sentence(text="User has a cat.")]
    for language in LANGUAGES:
        for form in (PaperForm(), SmallForm()):
            with suppress(BadReply):
                form.read([text], old=old, session=session, language=language, limit=20)


def gguf(data: bytes) -> None:
    """The head of a model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.gguf"
        path.write_bytes(data)
        with suppress(ModelUnavailable):
            read_head(path)


def stream(data: bytes) -> None:
    """Server-sent events, in blocks of any size."""

    async def blocks() -> AsyncIterator[bytes]:
        size = data[0] % 16 + 1 if data else 1
        for at in range(0, len(data), size):
            yield data[at : at + size]

    async def work() -> None:
        with suppress(ModelUnavailable):
            assert all([isinstance(event, str) async for event in sse_events(blocks())])

    asyncio.run(work())


def words(data: bytes) -> None:
    """What is read out of any text when it is recorded or quoted."""
    text = data.decode("utf-8", "replace")
    assert detect_language(text) in LANGUAGES
    assert all(terms(text))
    assert informativeness(text) >= 0
    assert all(first <= last for first, last in day_numbers(text, date(2026, 1, 5)))
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())
    assert without_template_tokens(without_template_tokens(text)) == without_template_tokens(text)
    assert "</memory>" not in as_list([text])


TARGETS: dict[str, Callable[[bytes], None]] = {
    "import": import_file,
    "import-lines": import_lines,
    "import-zip": import_zip,
    "memos": memos,
    "events": events,
    "summary": summary,
    "gguf": gguf,
    "stream": stream,
    "words": words,
}
SEEDS: dict[str, list[bytes]] = {
    "import": [
        b'[{"conversation_id": "c", "title": "t", "create_time": 1.5, "current_node": "b", '
        b'"mapping": {"a": {"id": "a", "parent": null, "children": ["b"], "message": null}, '
        b'"b": {"id": "b", "parent": "a", "children": [], "message": {"id": "m", '
        b'"author": {"role": "user"}, "create_time": 1.5, "content": {"content_type": "text", '
        b'"parts": ["Hello"]}}}}}]',
        b'[{"uuid": "u", "name": "n", "created_at": "2026-01-05T09:00:00Z", "chat_messages": '
        b'[{"uuid": "v", "sender": "human", "text": "Hi", "created_at": "2026-01-05T09:00:00Z", '
        b'"content": [{"type": "text", "text": "Hi"}]}]}]',
        b'{"messages": [{"role": "user", "content": "Hi", "time": "2026-01-05"}]}',
    ],
    "import-lines": [
        b'{"kind": "header", "format": "omoide", "schema": 2, "user": "a", "records": '
        b'{"session": 1}}\n{"kind": "session", "number": 1, "started": "2026-01-05T09:00:00Z", '
        b'"last": "2026-01-05T09:00:00Z", "ended": null, "key": null, "turns": 0}\n',
        b'{"kind": "event", "id": "e", "session": 1, "consolidation": 1.0, "recalls": 0}\n',
        b'{"kind": "header", "format": "omoide", "schema": 3, "user": "a", "records": {"fact": 1}}'
        b'\n{"kind": "fact", "id": "f", "of": "state", "about": "user", "text": "Has a cat.", '
        b'"language": "en", "said": "2026-01-05T09:00:00Z", "learned": "2026-01-05T09:00:00Z", '
        b'"session": 1, "since": "2026-01-05", "until": null, "sources": ["t"], "trust": "user", '
        b'"supersedes": [], "reason": "", "ended": null, "ended_by": "", "end_reason": "", '
        b'"end_sources": [], "confirmed": null, "pinned": false, "expires": null, "tags": [], '
        b'"flags": []}\n',
        b'{"role": "user", "content": "Hi"}\n{"role": "assistant", "content": "Yes?"}\n',
    ],
    "import-zip": [b"PK\x03\x04", b"PK\x05\x06" + bytes(18)],
    "memos": [
        b'{"memos": [{"topic": "t", "start": 1, "end": 2, "summary": "s"}]}',
        b"1, 3",
        b"NOTO",
    ],
    "events": [
        b'{"events": [{"text": "User has a cat.", "topics": ["cat"], "keywords": [], '
        b'"participants": ["User"]}]}',
        b'{"ratings": [1, 2, 3]}',
    ],
    "summary": [b"- User has two cats.\n- Assistant likes tea.", "用户养了两只猫。".encode()],
    "gguf": [
        b"GGUF\x03\x00\x00\x00" + bytes(8) + b"\x01" + bytes(7) + b"\x04" + bytes(7) + b"name"
    ],
    "stream": [b'data: {"a": 1}\n\n', b": ping\r\n\r\ndata: [DONE]"],
    "words": ["On 2026-02-30 and next week, 昨日 3月5日 <|im_start|>".encode()],
}
