"""Spans and metrics for OpenTelemetry, by its conventions for generative AI.

Names are those of the repository semantic-conventions-genai as of 2026 (status: development). The
global providers are used: whoever runs the process configures them.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from opentelemetry import metrics, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from omoide.domain import CallPurpose
from omoide.version import __version__
from omoide.wire.address import EndpointAddress, is_endpoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, TracerProvider

    from omoide.domain import ModelCall, Owner
    from omoide.ports.telemetry import MemoryOperation, Observed
    from omoide.settings import Settings

OWN = "omoide"
"""The provider's name of the embedded model, and of memory."""
_HOSTS = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "api.deepseek.com": "deepseek",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral_ai",
    "api.x.ai": "x_ai",
}
_TOKENS = [4**power for power in range(14)]
_SECONDS = [0.01 * 2**power for power in range(14)]


class OpenTelemetry:
    """See `ports.Telemetry`. With `content`, spans have what was searched for and what was found:
    the users' words."""

    def __init__(
        self,
        settings: Settings,
        *,
        content: bool,
        tracers: TracerProvider | None = None,
        meters: MeterProvider | None = None,
    ) -> None:
        self._content = content
        self._models = {CallPurpose.REPLY: settings.model, CallPurpose.EMBED: settings.embedder}
        self._writer = settings.summary_model or settings.model
        self._tracer = trace.get_tracer(OWN, __version__, tracers)
        meter = (meters or metrics.get_meter_provider()).get_meter(OWN, __version__)
        self._duration = meter.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="GenAI operation duration.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._usage = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )

    @contextmanager
    def operation(self, operation: MemoryOperation, owner: Owner) -> Iterator[Observed]:
        """See `Telemetry.operation`. A tenant is a store; its users are not named."""
        attributes = {"gen_ai.operation.name": operation.value, "gen_ai.provider.name": OWN}
        span = self._tracer.start_span(
            f"{operation.value} {owner.tenant}",
            kind=SpanKind.INTERNAL,
            attributes={**attributes, "gen_ai.memory.store.id": owner.tenant},
        )
        began = monotonic()
        try:
            with trace.use_span(span, record_exception=False, set_status_on_exception=False):
                yield _Observed(span, content=self._content)
        except BaseException as error:
            attributes["error.type"] = _fail(span, type(error).__name__)
            raise
        finally:
            span.end()
            self._duration.record(monotonic() - began, attributes)

    def call(self, call: ModelCall) -> None:
        """See `Telemetry.call`. The span is made afterwards, with the call's own times."""
        name = "embeddings" if call.purpose is CallPurpose.EMBED else "chat"
        address = self._models.get(call.purpose, self._writer)
        attributes: dict[str, str | int] = {
            "gen_ai.operation.name": name,
            "gen_ai.provider.name": _provider(address),
            "gen_ai.request.model": call.model,
            **_server(address),
        }
        end = _nanoseconds(call.time)
        span = self._tracer.start_span(
            f"{name} {call.model}",
            kind=SpanKind.CLIENT if is_endpoint(address) else SpanKind.INTERNAL,
            start_time=end - round(call.seconds * 1e9),
            attributes={
                **attributes,
                "gen_ai.response.model": call.model,
                "gen_ai.usage.input_tokens": call.prompt_tokens,
                "gen_ai.usage.output_tokens": call.completion_tokens,
                "omoide.purpose": call.purpose.value,
            },
        )
        for kind, count in (("input", call.prompt_tokens), ("output", call.completion_tokens)):
            self._usage.record(count, {**attributes, "gen_ai.token.type": kind})
        if call.failed:
            attributes["error.type"] = _fail(span, "discarded")
        span.end(end_time=end)
        self._duration.record(call.seconds, attributes)


class _Observed:
    """See `ports.telemetry.Observed`."""

    def __init__(self, span: Span, *, content: bool) -> None:
        self._span = span
        self._content = content

    def asked(self, text: str) -> None:
        """See `Observed.asked`."""
        if self._content:
            self._span.set_attribute("gen_ai.memory.query.text", text)

    def records(self, count: int, texts: Iterable[str] = ()) -> None:
        """See `Observed.records`."""
        self._span.set_attribute("gen_ai.memory.record.count", count)
        if self._content and (found := [{"content": text} for text in texts]):
            self._span.set_attribute("gen_ai.memory.records", json.dumps(found))


def _fail(span: Span, kind: str) -> str:
    """Mark a span as failed. An error's message is left out: it may quote the user."""
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR))
    return kind


def _provider(address: str) -> str:
    if not is_endpoint(address):
        return OWN
    endpoint = EndpointAddress.parse(address)
    host = urlsplit(endpoint.base_url).hostname or ""
    return _HOSTS.get(host, "openai" if endpoint.protocol == "responses" else endpoint.protocol)


def _server(address: str) -> dict[str, str | int]:
    if not is_endpoint(address):
        return {}
    url = urlsplit(EndpointAddress.parse(address).base_url)
    port = url.port or (443 if url.scheme == "https" else 80)
    return {"server.address": url.hostname or "", "server.port": port}


def _nanoseconds(time: datetime) -> int:
    return round(time.timestamp() * 1e9)
