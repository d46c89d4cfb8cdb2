"""Continuous batching with one transformers model: many answers at once in slots of one cache.

Every running answer has a row in a key-value cache that is allocated once. New prompts
are computed together, sorted by length, into the rows after the last; one step then gives every
row its next token; when an answer ends, the last row moves into its place. Rows begin at
position 0 and are masked by their own length, so nothing is padded or copied between steps, and a
step has few shapes: on a GPU each is captured once as a CUDA graph and replayed.

Sampling is llama.cpp's: frequency penalty, top-k 40, top-p 0.95, min-p 0.05, temperature; greedy
at temperature 0. The penalty counts generated tokens, as OpenAI's does.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from dataclasses import dataclass, field
from math import exp
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gpu_guides import Guide, Guides

TOP_K, TOP_P, MIN_P = 40, 0.95, 0.05
_ROWS = (1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512)
_PREFILL = 49_152
"""Maximum prompt tokens computed at a time, padding included."""
_CHUNK = 24
"""Tokens between two pieces of a stream."""


@dataclass(kw_only=True, eq=False)
class Job:
    """One requested answer."""

    prompt: list[int]
    limit: int
    say: Callable[[str, str | None], None]
    """Called with each piece of text; with the last one the reason: `stop`, `length` or `error`."""
    temperature: float = 0.0
    penalty: float = 0.0
    top_p: float = TOP_P
    stop: tuple[str, ...] = ()
    dice: random.Random = field(default_factory=random.Random)
    guide: Guide | None = None
    cancelled: bool = False
    tokens: list[int] = field(default_factory=list)
    sent: int = 0
    """Characters sent so far."""
    arrived: float = field(default_factory=time.monotonic)

    @property
    def length(self) -> int:
        """Tokens whose keys and values are in the cache, or will be after the next step."""
        return len(self.prompt) + len(self.tokens)


def _attention(
    module: Any,  # noqa: ANN401 - the vendor's signature
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    scaling: float | None = None,
    **_: object,
) -> tuple[torch.Tensor, None]:
    """Causal over whole prompts; for one new token, over its row up to its own length."""
    rows, heads, count, size = query.shape
    if count > 1:
        seen = scaled_dot_product_attention(
            query, key, value, is_causal=True, scale=scaling, enable_gqa=True
        )
        return seen.transpose(1, 2).contiguous(), None
    groups = key.shape[1]
    grouped = query.view(rows, groups, heads // groups, size)  # heads that share keys, as queries
    seen = scaled_dot_product_attention(
        grouped, key, value, attn_mask=attention_mask, scale=scaling
    )
    return seen.reshape(rows, 1, heads, size), None


AttentionInterface.register("slots", _attention)
AttentionMaskInterface.register("slots", sdpa_mask)


@dataclass(frozen=True, kw_only=True)
class _Prefill:
    """The cache as the model sees it during prefill."""

    pool: torch.Tensor
    first: int

    def update(
        self, key: torch.Tensor, value: torch.Tensor, layer: int, *_: object, **__: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        rows, _groups, length, _size = key.shape
        last = self.first + rows
        self.pool[layer, 0, self.first : last, :, :length] = key
        self.pool[layer, 1, self.first : last, :, :length] = value
        return key, value


@dataclass(frozen=True, kw_only=True)
class _Decode:
    """The cache as the model sees it while each row gets one token."""

    pool: torch.Tensor
    rows: torch.Tensor
    positions: torch.Tensor
    length: int

    def update(
        self, key: torch.Tensor, value: torch.Tensor, layer: int, *_: object, **__: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        count = len(self.rows)
        keys, values = self.pool[layer, 0], self.pool[layer, 1]
        keys[self.rows, :, self.positions] = key[:, :, 0]
        values[self.rows, :, self.positions] = value[:, :, 0]
        return keys[:count, :, : self.length], values[:count, :, : self.length]


class Engine:
    """Answers jobs in its own thread until it is closed."""

    def __init__(
        self,
        model: Any,  # noqa: ANN401 - a transformers model
        tokenizer: Any,  # noqa: ANN401
        *,
        ends: frozenset[int],
        guides: Guides,
        slots: int = 128,
        window: int = 4096,
        graphs: bool = True,
    ) -> None:
        self.model, self.tokenizer, self.ends = model, tokenizer, ends
        self.window, self.slots = window, slots
        self._guides = guides
        self._device = model.device
        model.set_attn_implementation("slots")
        shape = model.config
        size = getattr(shape, "head_dim", None) or shape.hidden_size // shape.num_attention_heads
        dtype = model.dtype
        # Zeros, not uninitialised memory: masked values are multiplied by 0, and 0 · NaN is NaN.
        self._pool = torch.zeros(
            (shape.num_hidden_layers, 2, slots, shape.num_key_value_heads, window, size),
            dtype=dtype,
            device=self._device,
        )
        self._rows = torch.arange(slots, device=self._device)
        self._places = torch.arange(window, device=self._device)
        self._tokens = torch.zeros(slots, dtype=torch.long, device=self._device)
        self._positions = torch.zeros(slots, dtype=torch.long, device=self._device)
        self._vocabulary = shape.vocab_size
        self._counts: torch.Tensor | None = None
        on_gpu = self._device.type == "cuda"
        self._bits = torch.full((slots, guides.width), -1, dtype=torch.int32, pin_memory=on_gpu)
        self._shifts = torch.arange(32, dtype=torch.int32, device=self._device)
        self._graphs: dict[tuple[int, int], tuple[Any, torch.Tensor]] | None = (
            {} if graphs and on_gpu else None
        )
        self._memory = torch.cuda.graph_pool_handle() if self._graphs is not None else None
        self._waiting: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._queued: list[Job] = []
        self._running: list[Job] = []
        self.generated = self.prompted = self.steps = self.finished = 0
        self.busy = 0.0
        if on_gpu:
            # It plans again for each shape, which costs more than it saves here.
            torch.backends.cuda.enable_cudnn_sdp(False)
        self._thread = threading.Thread(target=self._work, name="engine", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> None:
        """Queue a job."""
        self._waiting.put(job)

    def close(self) -> None:
        """Finish running jobs, and stop."""
        self._waiting.put(None)
        self._thread.join()

    # ── The thread ──────────────────────────────────────────────────────────────────────────

    @torch.inference_mode()
    def _work(self) -> None:
        closing = False
        while not (closing and not self._running and not self._queued):
            idle = not self._running and not self._queued
            while idle or not self._waiting.empty():
                job = self._waiting.get()
                if job is None:
                    closing = True
                    break
                if idle:
                    time.sleep(0.003)  # wait for others that arrive with the first
                    idle = False
                self._queued.append(job)
            began = time.monotonic()
            try:
                self._admit()
                if self._running:
                    self._step()
            except Exception as error:
                self._fail(error)
                raise
            self.busy += time.monotonic() - began

    def _fail(self, error: Exception) -> None:
        for job in (*self._running, *self._queued):
            job.say(f"{type(error).__name__}: {error}", "error")
        self._running, self._queued = [], []

    def _admit(self) -> None:
        """Compute the prompts of as many waiting jobs as there is room for."""
        self._queued = [job for job in self._queued if not job.cancelled]
        free = self.slots - len(self._running)
        # A few free rows are not worth interrupting the others, unless no more jobs wait.
        if not free or (self._running and len(self._queued) > free and free < self.slots // 16):
            return
        chosen, self._queued = self._queued[:free], self._queued[free:]
        chosen.sort(key=lambda job: len(job.prompt))
        while chosen:
            count = 1
            while count < len(chosen) and (count + 1) * len(chosen[count].prompt) <= _PREFILL:
                count += 1
            self._prefill(chosen[:count])
            chosen = chosen[count:]

    def _prefill(self, jobs: list[Job]) -> None:
        first = len(self._running)
        max_chars = -(-len(jobs[-1].prompt) // 16) * 16
        max_chars = min(max_chars, self.window)
        tokens = torch.zeros((len(jobs), max_chars), dtype=torch.long)
        for i, job in enumerate(jobs):
            tokens[i, : len(job.prompt)] = torch.tensor(job.prompt)
        places = torch.arange(max_chars, device=self._device)[None].expand(len(jobs), -1)
        hidden = self._forward(
            tokens.to(self._device),
            places,
            mask=torch.zeros((1, 1, 1, 1), dtype=torch.bool, device=self._device),
            cache=_Prefill(pool=self._pool, first=first),
        )
        last = torch.tensor([len(job.prompt) - 1 for job in jobs], device=self._device)
        logits = self.model.lm_head(hidden[self._rows[: len(jobs)], last])
        self._running += jobs
        if self._counts is not None:
            self._counts[first : first + len(jobs)] = 0
        self.prompted += sum(len(job.prompt) for job in jobs)
        self._fill(range(first, first + len(jobs)))
        self._choose(logits, first)
        self._clear()

    def _step(self) -> None:
        """One token for every running row."""
        jobs = self._running
        count = len(jobs)
        self._tokens[:count] = torch.tensor([job.tokens[-1] for job in jobs]).to(self._device)
        self._positions[:count] = torch.tensor([job.length - 1 for job in jobs]).to(self._device)
        rows = min(next(n for n in (*_ROWS, self.slots) if n >= count), self.slots)
        logits = self._decode(rows, self._rounded(max(job.length for job in jobs)))
        self._fill(range(count))  # while the GPU computes
        self._choose(logits[:count], 0)
        self.steps += 1
        self._clear()

    def _rounded(self, length: int) -> int:
        grain = 256 if length <= 2048 else 1024
        return min(-(-length // grain) * grain, self.window)

    def _forward(
        self, tokens: torch.Tensor, places: torch.Tensor, *, mask: torch.Tensor, cache: object
    ) -> torch.Tensor:
        model = self.model.model
        named = {"full_attention": mask} if self.model.config.model_type == "qwen2" else mask
        out = model(
            input_ids=tokens,
            position_ids=places,
            attention_mask=named,
            past_key_values=cache,
            use_cache=False,
        )
        hidden: torch.Tensor = out.last_hidden_state
        return hidden

    def _compute(self, rows: int, length: int) -> torch.Tensor:
        positions = self._positions[:rows]
        mask = torch.zeros((rows, length), dtype=self.model.dtype, device=self._device)
        mask.masked_fill_(self._places[None, :length] > positions[:, None], float("-inf"))
        hidden = self._forward(
            self._tokens[:rows, None],
            positions[:, None],
            mask=mask[:, None, None],
            cache=_Decode(
                pool=self._pool, rows=self._rows[:rows], positions=positions, length=length
            ),
        )
        logits: torch.Tensor = self.model.lm_head(hidden[:, 0])
        return logits

    def _decode(self, rows: int, length: int) -> torch.Tensor:
        """The logits of one step, by a CUDA graph if possible."""
        if self._graphs is None:
            return self._compute(rows, length)
        if (rows, length) not in self._graphs:
            try:
                self._graphs[rows, length] = self._captured(rows, length)
            except RuntimeError as error:  # slower without graphs, but it works
                print(f"no CUDA graphs: {error}", flush=True)
                self._graphs = None
                torch.cuda.synchronize()
                return self._compute(rows, length)
        graph, logits = self._graphs[rows, length]
        graph.replay()
        return logits

    def _captured(self, rows: int, length: int) -> tuple[Any, torch.Tensor]:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # cuBLAS and others initialise outside the graph
            self._compute(rows, length)
            self._compute(rows, length)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._memory, capture_error_mode="thread_local"):
            logits = self._compute(rows, length)
        return graph, logits

    # ── Choosing tokens ─────────────────────────────────────────────────────────────────────

    def _fill(self, rows: Sequence[int]) -> None:
        guided = [(row, guide) for row in rows if (guide := self._running[row].guide)]
        if guided:
            bits = self._bits.numpy()
            bits[rows[0] : rows[-1] + 1] = -1
            self._guides.fill(guided, bits)

    def _choose(self, logits: torch.Tensor, first: int) -> None:
        """Give each row from `first` on its next token."""
        jobs = self._running[first : first + len(logits)]
        logits = logits.float()
        if any(job.penalty for job in jobs):
            if self._counts is None:
                self._counts = torch.zeros(
                    (self.slots, self._vocabulary), dtype=torch.int16, device=self._device
                )
            weight = torch.tensor([job.penalty for job in jobs], device=self._device)
            logits = logits - weight[:, None] * self._counts[first : first + len(jobs)]
        if any(job.guide for job in jobs):
            words = self._bits[first : first + len(jobs)].to(self._device, non_blocking=True)
            allowed = (words[:, :, None] >> self._shifts) & 1
            allowed = allowed.reshape(len(jobs), -1)[:, : self._vocabulary].bool()
            logits = logits.masked_fill(~allowed, float("-inf"))
        best = logits.argmax(-1)
        if any(job.temperature > 0 for job in jobs):
            values, numbers = logits.topk(TOP_K)
            likely, which = values.tolist(), numbers.tolist()
            greedy = best.tolist()
            chosen = [
                _drawn(job, likely[i], which[i]) if job.temperature > 0 else greedy[i]
                for i, job in enumerate(jobs)
            ]
            best = torch.tensor(chosen, device=self._device)
        else:
            chosen = best.tolist()
        if self._counts is not None:
            self._counts[self._rows[first : first + len(jobs)], best] += 1
        for job, token in zip(jobs, chosen, strict=True):
            self._take(job, token)

    def _take(self, job: Job, token: int) -> None:
        """Add a token to an answer; sets `cancelled` when the answer is done."""
        self.generated += 1
        if job.cancelled:
            return
        if token in self.ends:
            self._end(job, "stop")
            return
        job.tokens.append(token)
        if job.guide is not None and not job.guide.accept(token):
            self._end(job, "stop")
        elif len(job.tokens) >= job.limit or job.length >= self.window:
            self._end(job, "length")
        elif job.stop or len(job.tokens) % _CHUNK == 0:
            self._tell(job)

    def _tell(self, job: Job) -> None:
        text = self.tokenizer.decode(job.tokens, skip_special_tokens=True)
        if cut := _first(text, job.stop):
            self._end(job, "stop", text[: cut - 1])
            return
        back = max((len(stop) for stop in job.stop), default=0)
        sure = len(text.rstrip("�")) - back
        if sure > job.sent and len(job.tokens) % _CHUNK == 0:
            job.say(text[job.sent : sure], None)
            job.sent = sure

    def _end(self, job: Job, why: str, text: str | None = None) -> None:
        if text is None:
            text = self.tokenizer.decode(job.tokens, skip_special_tokens=True)
            if cut := _first(text, job.stop):
                text, why = text[: cut - 1], "stop"
        job.cancelled = True
        self.finished += 1
        job.say(text[job.sent :], why)

    def _clear(self) -> None:
        """Free finished rows, and fill the gaps with the last rows."""
        jobs = self._running
        row = 0
        while row < len(jobs):
            if not jobs[row].cancelled:
                row += 1
                continue
            last = jobs.pop()
            if row < len(jobs):
                jobs[row] = last
                if not last.cancelled:
                    end, length = len(jobs), last.length
                    self._pool[:, :, row, :, :length] = self._pool[:, :, end, :, :length]
                    if self._counts is not None:
                        self._counts[row] = self._counts[end]


def _first(text: str, stops: Sequence[str]) -> int:
    """One more than the position of the first stop string, or 0."""
    return min((text.find(stop) + 1 for stop in stops if stop in text), default=0)


def _drawn(job: Job, logits: list[float], tokens: list[int]) -> int:
    """Sample a token among the most likely."""
    weights = [exp(x - logits[0]) for x in logits]
    total, kept, mass = sum(weights), 0, 0.0
    for weight in weights:
        kept += 1
        mass += weight
        if mass >= job.top_p * total:
            break
    while kept > 1 and weights[kept - 1] < MIN_P:
        kept -= 1
    cooled = [exp((x - logits[0]) / job.temperature) for x in logits[:kept]]
    return job.dice.choices(tokens[:kept], cooled)[0]
