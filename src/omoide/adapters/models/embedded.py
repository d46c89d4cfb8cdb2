"""Chat with a model in this process: no API key, no network, one GGUF file.

llama.cpp runs in its own threads; its output reaches the event loop through a queue.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal

from omoide.adapters.models.adapter import adapter_for, author_name
from omoide.adapters.models.llama import Llama
from omoide.adapters.models.slots import Slots
from omoide.errors import (
    ContextTooLong,
    ModelError,
    ModelRefused,
    ModelStalled,
    ModelUnavailable,
    OmoideError,
)
from omoide.ports import Completion

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
    from pathlib import Path

    from omoide.adapters.models.adapter import Adapter
    from omoide.adapters.models.llama import LoadedModel
    from omoide.ports import Request

_Posted = dict[str, Any] | Exception | None
"""What a thread posts: chunks (an empty one first, when it starts), an error, None at the end."""


class EmbeddedChat:
    """A chat model from a GGUF file, loaded on first use and shared by all conversations.

    `slots` answers are computed at a time; other requests wait for up to `patience` seconds, which
    includes loading. An answer that makes no progress for `stall` seconds, neither in reading the
    prompt nor in writing, raises `ModelStalled`. Prefixes shared with an earlier prompt come from
    the cache. The first of `adapters` that claims a request's skill is applied to it, if any does.
    `load` exists for tests.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str | None = None,
        window: int = 8192,
        slots: int = 2,
        threads: int | None = None,
        cache_mib: int = 512,
        adapters: Sequence[Adapter] = (),
        stall: float = 120.0,
        patience: float = 600.0,
        load: Callable[[], LoadedModel] | None = None,
    ) -> None:
        self._base = name or path.stem
        self._adapters = tuple(adapters)
        self._files = tuple(dict.fromkeys(adapter.path for adapter in adapters))
        self._name = "+".join((self._base, *(adapter.name for adapter in adapters)))
        switching = any(adapter.skills is not None for adapter in adapters[:1])
        self._slots = Slots(slots) if switching else None
        self._window = window
        self._stall, self._patience = stall, patience
        self._load: Callable[[], LoadedModel] = load or partial(
            Llama,
            path,
            window=window,
            slots=slots,
            threads=threads,
            # llama.cpp's prompt cache ignores the adapter a prompt was computed with (measured),
            # so it can be used only if all requests have the same adapter.
            cache_mib=0 if switching else cache_mib,
            adapters=self._files,
        )
        self._loaded: LoadedModel | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="omoide-model")
        self._stops: set[threading.Event] = set()
        self._counted = lru_cache(2048)(self._count)

    @property
    def name(self) -> str:
        """The model's name (by default the file's) and the names of its adapters."""
        return self._name

    @property
    def window(self) -> int:
        """Maximum tokens of prompt and answer together."""
        return self._window

    def author(self, request: Request) -> str:
        """See `ports.AuthoredModel`."""
        return author_name(self._base, self._adapters, request)

    async def count(self, text: str) -> int:
        """The exact number of tokens of `text` in a message."""
        return await asyncio.to_thread(self._counted, text)

    async def close(self) -> None:
        """Stop all answers and free the model."""
        for stop in tuple(self._stops):
            stop.set()
        await asyncio.to_thread(self._free)

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """Yield the answer's pieces, then its `Completion`; see `ports.ChatModel`."""
        if self._closed:
            raise ModelUnavailable(f"{self._name} was closed")
        queue: asyncio.Queue[_Posted] = asyncio.Queue()
        stop = threading.Event()
        loop = asyncio.get_running_loop()

        def post(item: _Posted) -> None:
            loop.call_soon_threadsafe(queue.put_nowait, item)

        chosen = self._chosen(request)
        body = _body(request) | self._scales(chosen)
        job = self._pool.submit(self._answer, body, chosen, post, stop)
        self._stops.add(stop)
        try:
            await self._next(queue, self._patience, "a free slot")
            started = time.monotonic()
            pieces: list[str] = []
            finish: Literal["stop", "length"] = "stop"
            usage: dict[str, Any] = {}
            while (chunk := await self._next(queue, self._stall, "the next token")) is not None:
                if "error" in chunk:
                    raise self._failure(chunk["error"])
                usage = chunk.get("usage") or usage
                for choice in chunk.get("choices", ())[:1]:
                    if choice.get("finish_reason") == "length":
                        finish = "length"
                    if piece := choice.get("delta", {}).get("content"):
                        pieces.append(piece)
                        yield piece
            if not usage:
                raise ModelUnavailable(f"{self._name} was stopped before its answer was complete")
            yield Completion(
                text="".join(pieces),
                prompt_tokens=usage["prompt_tokens"],
                completion_tokens=usage["completion_tokens"],
                seconds=time.monotonic() - started,
                finish=finish,
                cached_tokens=usage.get("prompt_tokens_details", {}).get("cached_tokens", 0),
                by=self.author(request) if self._adapters else "",
            )
        finally:
            self._stops.discard(stop)
            stop.set()
            job.cancel()

    def _chosen(self, request: Request) -> Adapter | None:
        """The adapter for a request."""
        return adapter_for(self._adapters, request)

    def _scales(self, chosen: Adapter | None) -> dict[str, object]:
        """The scale of each adapter file. Inactive ones are listed too: without a list llama.cpp
        would reuse what another adapter computed for the same prompt (measured)."""
        if not self._adapters:
            return {}
        scales = (chosen.strength if chosen and chosen.path == f else 0.0 for f in self._files)
        return {"lora": [{"id": i, "scale": scale} for i, scale in enumerate(scales)]}

    async def _next(
        self, queue: asyncio.Queue[_Posted], seconds: float, awaited: str
    ) -> dict[str, Any] | None:
        """The next item the thread posts; raises it if it is an error."""
        try:
            item = await asyncio.wait_for(queue.get(), seconds)
        except TimeoutError as error:
            raise ModelStalled(
                f"{self._name} timed out after {seconds:g} s waiting for {awaited}; "
                "try again, allow more time, or use a smaller model"
            ) from error
        if isinstance(item, Exception):
            raise item
        return item

    def _answer(
        self,
        body: dict[str, object],
        chosen: Adapter | None,
        post: Callable[[_Posted], None],
        stop: threading.Event,
    ) -> None:
        """Compute one answer; runs in a thread of the pool."""

        def on_chunk(chunk: dict[str, Any]) -> bool:
            post(chunk)
            return stop.is_set()

        # Posting to a closed event loop raises RuntimeError: nobody is listening any more.
        with suppress(RuntimeError):
            try:
                model = self._ready()
                post({})
                if not stop.is_set():
                    with self._with_slot(body, chosen) as slotted:
                        model.chat(slotted, on_chunk)
                post(None)
            except OmoideError as error:
                post(error)
            except ValueError as error:  # llama.cpp cannot read the schema or the request
                post(ModelRefused(f"{self._name} rejected this request: {error}"))
            except RuntimeError as error:
                post(ModelUnavailable(f"{self._name} failed: {error}"))
            except Exception as error:
                post(error)
                raise

    @contextmanager
    def _with_slot(
        self, body: dict[str, object], chosen: Adapter | None
    ) -> Iterator[dict[str, object]]:
        """The body with a slot, if slots are chosen here."""
        if self._slots is None:
            yield body
            return
        prompt = json.dumps(body["messages"], ensure_ascii=False)
        slot = self._slots.acquire(prompt, adapter=chosen.name if chosen else None)
        try:
            yield {**body, "id_slot": slot}
        finally:
            self._slots.release(slot)

    def _ready(self) -> LoadedModel:
        """The loaded model. The first caller loads it, the others wait."""
        with self._lock:
            if self._closed:
                raise ModelUnavailable(f"{self._name} was closed")
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _count(self, text: str) -> int:
        return len(self._ready().tokens(text))

    def _free(self) -> None:
        with self._lock:
            self._closed = True
            loaded, self._loaded = self._loaded, None
        self._pool.shutdown(wait=True, cancel_futures=True)
        if loaded is not None:
            loaded.close()

    def _failure(self, error: dict[str, Any]) -> ModelError:
        message = str(error.get("message", ""))[:200]
        if error.get("type") == "exceed_context_size_error":
            return ContextTooLong(
                f"{self._name}: the prompt has {error.get('n_prompt_tokens')} tokens, the window "
                f"has {error.get('n_ctx')}; shorten the prompt or enlarge the window"
            )
        if error.get("code") == 400:
            return ModelRefused(f"{self._name} rejected this request: {message}")
        return ModelUnavailable(f"{self._name} failed: {message}")


def _body(request: Request) -> dict[str, object]:
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
