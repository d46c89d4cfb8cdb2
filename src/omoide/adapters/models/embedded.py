"""Chat with a model in this process: no API key, no network, one GGUF file.

llama.cpp runs in its own threads; its output reaches the event loop through a queue. Requests that
somebody waits for go before those in the background (`precedence`), and the fixed part of a prompt
is read once and kept on disk (`prefixes`).
"""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal

from omoide.adapters.models.adapter import adapter_for, author_name
from omoide.adapters.models.llama import KeepsStates, Llama
from omoide.adapters.models.llama_body import forced_body, request_body
from omoide.adapters.models.precedence import Precedence
from omoide.adapters.models.prefixes import PrefixReader
from omoide.adapters.models.prompt_slots import PromptSlots
from omoide.adapters.models.slots import Slots
from omoide.errors import (
    ContextTooLong,
    ModelError,
    ModelRefused,
    ModelStalled,
    ModelUnavailable,
    OmoideError,
)
from omoide.ports import Completion, Likelihood

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
    from pathlib import Path

    from omoide.adapters.models.adapter import Adapter
    from omoide.adapters.models.llama import LoadedModel
    from omoide.adapters.models.prefixes import PrefixStates
    from omoide.ports import Request

_Posted = dict[str, Any] | Exception | None
"""What a thread posts: chunks (an empty one first, when it starts), an error, None at the end."""


class EmbeddedChat:
    """A chat model from a GGUF file, loaded on first use and shared by all conversations.

    `slots` answers are computed at a time; other requests wait for up to `patience` seconds, which
    includes loading. An answer that makes no progress for `stall` seconds, neither in reading the
    prompt nor in writing, raises `ModelStalled`. Prefixes shared with an earlier prompt come from
    the cache; `prefixes` is where states of fixed prefixes are kept for the next process. The first
    of `adapters` that claims a request's skill is applied to it, if any does. `load` exists for
    tests.
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
        prefixes: PrefixStates | None = None,
        stall: float = 120.0,
        patience: float = 600.0,
        load: Callable[[], LoadedModel] | None = None,
    ) -> None:
        self._base = name or path.stem
        self._adapters = tuple(adapters)
        self._files = tuple(dict.fromkeys(adapter.path for adapter in adapters))
        self._name = "+".join((self._base, *(adapter.name for adapter in adapters)))
        switching = any(adapter.skills is not None for adapter in adapters[:1])
        states = prefixes if prefixes is not None and prefixes.open() else None
        self._slots = PromptSlots(
            Slots(slots) if switching else None,
            prefixes=PrefixReader(states, weights=path) if states else None,
        )
        self._precedence = Precedence()
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
            states=states.folder if states else None,
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
        stop = threading.Event()
        if not request.background:
            with self._precedence.foreground():
                async with aclosing(self._stream(request, stop)) as pieces:
                    async for piece in pieces:
                        yield piece
            return
        for piece in await self._precedence.in_background(lambda s: self._whole(request, s)):
            yield piece

    async def prepare(self, request: Request, *, begun: str = "") -> None:
        """Load the model, and read all messages but the last, and how that begins; see
        `ports.PreparableModel`."""
        stop = threading.Event()
        first = replace(request, messages=request.messages[:-1])
        chosen = self._chosen(request)
        body = request_body(first) | self._scales(chosen)
        with self._precedence.foreground():
            job = self._pool.submit(self._read_ahead, body, chosen, request, begun=begun, stop=stop)
            self._stops.add(stop)
            try:
                await asyncio.wrap_future(job)
            finally:
                self._stops.discard(stop)
                stop.set()
                job.cancel()

    async def likelihood(self, request: Request, answer: str) -> Likelihood:
        """How likely the answer is; see `ports.ScoringModel`. The model writes it, held to its
        tokens by a grammar. Of a character that is split into several tokens llama.cpp tells the
        log-probability of the last one only."""
        wanted = await asyncio.to_thread(lambda: self._ready().pieces(answer))
        logprob, tokens = 0.0, 0
        usage: dict[str, Any] = {}
        started = time.monotonic()
        with self._precedence.foreground():
            body = forced_body(request, wanted)
            async with aclosing(self._chunks(request, threading.Event(), body)) as chunks:
                async for chunk in chunks:
                    usage = chunk.get("usage") or usage
                    for choice in chunk.get("choices", ())[:1]:
                        written = (choice.get("logprobs") or {}).get("content") or ()
                        logprob += sum(token["logprob"] for token in written)
                        tokens += len(written)
        return Likelihood(
            logprob=logprob,
            tokens=tokens,
            prompt_tokens=usage.get("prompt_tokens", 0),
            seconds=time.monotonic() - started,
        )

    async def _whole(self, request: Request, stop: threading.Event) -> list[str | Completion]:
        """All that an answer yields."""
        async with aclosing(self._stream(request, stop)) as pieces:
            return [piece async for piece in pieces]

    async def _stream(
        self, request: Request, stop: threading.Event
    ) -> AsyncGenerator[str | Completion]:
        pieces: list[str] = []
        finish: Literal["stop", "length"] = "stop"
        usage: dict[str, Any] = {}
        async with aclosing(self._chunks(request, stop, request_body(request))) as chunks:
            await anext(chunks)
            started = time.monotonic()
            async for chunk in chunks:
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

    async def _chunks(
        self, request: Request, stop: threading.Event, body: Mapping[str, object]
    ) -> AsyncGenerator[dict[str, Any]]:
        """What llama.cpp sends for the body of a request; before it, an empty chunk when it starts
        to work."""
        if self._closed:
            raise ModelUnavailable(f"{self._name} was closed")
        queue: asyncio.Queue[_Posted] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def post(item: _Posted) -> None:
            loop.call_soon_threadsafe(queue.put_nowait, item)

        job = self._pool.submit(self._answer, request, body, post, stop)
        self._stops.add(stop)
        try:
            await self._next(queue, self._patience, "a free slot")
            yield {}
            while (chunk := await self._next(queue, self._stall, "the next token")) is not None:
                if "error" in chunk:
                    raise self._failure(chunk["error"])
                yield chunk
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
                f"{self._name} timed out after {seconds:g} s waiting for {awaited}; try again, "
                "allow more time with OMOIDE_TIMEOUT (seconds), or use a smaller model"
            ) from error
        if isinstance(item, Exception):
            raise item
        return item

    def _answer(
        self,
        request: Request,
        asked: Mapping[str, object],
        post: Callable[[_Posted], None],
        stop: threading.Event,
    ) -> None:
        """Compute one answer; runs in a thread of the pool."""
        chosen = self._chosen(request)
        body = {**asked, **self._scales(chosen)}

        def stopped() -> bool:
            post({})  # reading goes on
            return stop.is_set()

        def on_chunk(chunk: dict[str, Any]) -> bool:
            post(chunk)
            return stop.is_set()

        # Posting to a closed event loop raises RuntimeError: nobody is listening any more.
        with suppress(RuntimeError):
            try:
                model = self._ready()
                post({})
                if not stop.is_set():
                    with self._slots.taken(body, adapter=chosen) as slotted:
                        slotted.begin(model, request, stopped)
                        model.chat(slotted.body, on_chunk)
                post(None)
            except OmoideError as error:
                post(error)
            except ValueError as error:  # llama.cpp cannot read the schema or the request
                post(ModelRefused(f"{self._name} rejected this request: {error}"))
            except RuntimeError as error:
                post(ModelUnavailable(f"{self._name} failed: {error}"))
            except Exception as error:  # the caller waits in another thread, and must hear of it
                post(error)
                raise

    def _read_ahead(
        self,
        body: dict[str, object],
        chosen: Adapter | None,
        request: Request,
        *,
        begun: str,
        stop: threading.Event,
    ) -> None:
        """Read all messages of `body` and the beginning of the next; runs in a thread of the
        pool."""
        model = self._ready()
        if not (body["messages"] and isinstance(model, KeepsStates)) or stop.is_set():
            return
        with self._slots.taken(body, adapter=chosen) as slotted:
            slotted.begin(model, request, stop.is_set)
            if not stop.is_set():
                model.read(model.beginning(slotted.messages, begun), slotted.body, stop.is_set)

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
