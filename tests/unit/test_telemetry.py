"""What OpenTelemetry is told, seen through the SDK's exporter in memory."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from omoide.adapters.telemetry import OpenTelemetry
from omoide.bootstrap import make_telemetry
from omoide.domain import CallPurpose, ModelCall
from omoide.errors import BadInput, MissingExtra, StoreFull
from omoide.ports.telemetry import OFF
from omoide.settings import Settings

from .conftest import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from opentelemetry.sdk.trace import ReadableSpan

    from .conftest import World

    Make = Callable[..., Awaitable[World]]

SAID = "I have a cat called Miso."


@dataclass
class Watched:
    """Telemetry, and what it told."""

    telemetry: OpenTelemetry
    exporter: InMemorySpanExporter
    reader: InMemoryMetricReader

    @property
    def spans(self) -> dict[str, ReadableSpan]:
        """The last span of each operation."""
        return {str(_of(span, "gen_ai.operation.name")): span for span in self.all}

    @property
    def all(self) -> tuple[ReadableSpan, ...]:
        """All spans."""
        return self.exporter.get_finished_spans()

    def points(self, name: str) -> list[Any]:
        """The data points of a metric."""
        data: Any = self.reader.get_metrics_data()
        return [
            point
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]

    @property
    def text(self) -> str:
        """All that was told, as one text."""
        return " ".join(span.to_json() for span in self.all) + str(self.points(DURATION))


DURATION = "gen_ai.client.operation.duration"


def _of(span: ReadableSpan, name: str) -> object:
    return (span.attributes or {}).get(name)


def watched(*, content: bool = False, settings: Settings = SETTINGS) -> Watched:
    """Telemetry with providers of its own."""
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers, meters = TracerProvider(), MeterProvider([reader])
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    telemetry = OpenTelemetry(settings, content=content, tracers=tracers, meters=meters)
    return Watched(telemetry=telemetry, exporter=exporter, reader=reader)


async def lived(make_world: Make, watching: Watched) -> World:
    """Someone talks, is remembered, asks, and is erased."""
    world = await make_world(telemetry=watching.telemetry)
    await world.session("ana", SAID, answers=("The user has a cat called Miso.",))
    await world.memory.recall("ana", "What is my cat called?")
    await world.memory.erase("ana")
    return world


async def test_each_operation_of_memory_is_a_span_with_its_published_name(
    make_world: Make,
) -> None:
    """By the conventions for memory: the operation, the store, how many records."""
    watching = watched()
    await lived(make_world, watching)
    operations = {"upsert_memory", "search_memory", "update_memory", "delete_memory"}
    assert operations <= watching.spans.keys()
    for name in operations:
        span = watching.spans[name]
        assert span.name == f"{name} default"
        assert span.kind is SpanKind.INTERNAL
        assert _of(span, "gen_ai.memory.store.id") == "default"
        assert _of(span, "gen_ai.provider.name") == "omoide"
        assert span.status.status_code is StatusCode.UNSET
    assert _of(watching.spans["upsert_memory"], "gen_ai.memory.record.count") == 1
    assert _of(watching.spans["delete_memory"], "gen_ai.memory.record.count") == 2
    told = {point.attributes["gen_ai.operation.name"] for point in watching.points(DURATION)}
    assert told >= operations


async def test_model_calls_are_spans_and_tokens_are_counted(make_world: Make) -> None:
    """Chats and embeddings, with the model, its tokens and the call's own times; a digest's call
    lies within the digest."""
    watching = watched()
    world = await lived(make_world, watching)
    chats = [span for span in watching.all if _of(span, "gen_ai.operation.name") == "chat"]
    assert {span.name for span in chats} == {"chat replier", "chat iterator"}
    (digest,) = [span for span in chats if _of(span, "omoide.purpose") == "digest"]
    assert digest.parent is not None
    assert watching.spans["update_memory"].context is not None
    assert digest.parent.span_id == watching.spans["update_memory"].context.span_id
    assert isinstance(_of(digest, "gen_ai.usage.input_tokens"), int)
    assert "embeddings" in watching.spans
    kinds = {
        (point.attributes["gen_ai.request.model"], point.attributes["gen_ai.token.type"])
        for point in watching.points("gen_ai.client.token.usage")
    }
    assert kinds >= {("replier", "input"), ("replier", "output"), ("iterator", "output")}
    del world


async def test_no_words_and_no_users_are_told_by_default(make_world: Make) -> None:
    """Neither what was said nor what was searched for, nor by whom."""
    watching = watched()
    await lived(make_world, watching)
    assert not any(word in watching.text for word in ("Miso", "cat", "ana"))


async def test_content_is_told_if_the_operator_says_so(make_world: Make) -> None:
    """What was searched for, and what was found."""
    watching = watched(content=True)
    await lived(make_world, watching)
    search = watching.spans["search_memory"]
    assert _of(search, "gen_ai.memory.query.text") == "What is my cat called?"
    assert "Miso" in str(_of(search, "gen_ai.memory.records"))


async def test_an_error_is_told_by_its_class_alone(make_world: Make) -> None:
    """Its message may quote the user."""
    watching = watched()
    world = await make_world(telemetry=watching.telemetry)

    async def full(*_: object, **__: object) -> None:
        raise StoreFull(f"no space for {SAID!r}")

    world.store.turns.append = full  # type: ignore[method-assign,assignment]
    with suppress(StoreFull):
        await world.memory.record("ana", SAID)
    span = watching.spans["upsert_memory"]
    assert _of(span, "error.type") == "StoreFull"
    assert span.status.status_code is StatusCode.ERROR
    assert span.events == ()
    assert "Miso" not in watching.text


@pytest.mark.parametrize(
    ("model", "provider", "address"),
    [
        ("https://api.openai.com/v1#m", "openai", ("api.openai.com", 443)),
        ("http://localhost:8000/v1#m", "openai", ("localhost", 8000)),
        ("responses+https://e.example/v1#m", "openai", ("e.example", 443)),
        ("anthropic+https://api.anthropic.com#m", "anthropic", ("api.anthropic.com", 443)),
        ("ollama+http://localhost:11434#m", "ollama", ("localhost", 11434)),
        ("default", "omoide", (None, None)),
    ],
)
def test_a_provider_is_named(
    model: str, provider: str, address: tuple[str | None, int | None], now: datetime
) -> None:
    """From the address, as well as it can be known."""
    watching = watched(settings=replace(SETTINGS, model=model))
    watching.telemetry.call(
        ModelCall(
            purpose=CallPurpose.REPLY,
            model="m",
            session=None,
            prompt_tokens=11,
            completion_tokens=3,
            seconds=1.5,
            time=now,
            failed=True,
        )
    )
    span = watching.spans["chat"]
    assert _of(span, "gen_ai.provider.name") == provider
    assert (_of(span, "server.address"), _of(span, "server.port")) == address
    assert span.start_time is not None
    assert span.end_time == round(now.timestamp() * 1e9)
    assert span.end_time - span.start_time == 1_500_000_000
    assert _of(span, "error.type") == "discarded"


@pytest.fixture
def now() -> datetime:
    """Some time."""
    from omoide.testing import FrozenClock

    return FrozenClock().now()


def test_it_is_off_unless_asked_for() -> None:
    """By the settings of whoever says nothing of it."""
    assert make_telemetry(Settings()) is OFF


def test_a_wrong_setting_or_a_missing_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to write or to install."""
    with pytest.raises(BadInput, match="off, on or content"):
        make_telemetry(Settings(telemetry="yes"))
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.delitem(sys.modules, "omoide.adapters.telemetry", raising=False)
    with pytest.raises(MissingExtra, match=r"omoide\[otel\]"):
        make_telemetry(Settings(telemetry="on"))
