"""An OpenAI-compatible endpoint over transformers, for running the benchmarks on a GPU.

    python benchmarks/gpu_server.py MODEL.gguf --port 8000 [--adapter FOLDER|FILE --strength 0.5]

Serves `/v1/chat/completions` and `/v1/models`. Supports what we send to llama.cpp's server:
`response_format` with a JSON schema, `grammar` in GBNF, `frequency_penalty`, `seed`, `stop`. The
weights are those of the GGUF file, dense (bfloat16 on a GPU); the chat template is the file's own,
and control tokens in messages are broken up as in the embedded runtime. Needs torch,
transformers, gguf, xgrammar, llguidance, starlette and uvicorn. For measurements, not for users:
it checks no key and listens on the loopback interface.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import time
import uuid
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import torch
import uvicorn
from gpu_engine import TOP_P, Engine, Job
from gpu_guides import Guides
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from omoide_tune.formats.dense import open_dense
from omoide_tune.trainable import unpack_adapter

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from omoide_tune.formats.dense import DenseModel

    Said = tuple[str, str | None]


class Refused(Exception):
    """A request that cannot be answered, with the error of llama.cpp's server."""

    def __init__(self, message: str, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.kind = kind


class Chat:
    """Turns requests into jobs of the engine."""

    def __init__(self, path: Path, dense: DenseModel, engine: Engine, guides: Guides) -> None:
        self.name = path.stem
        self.engine = engine
        self._tokenizer = dense.tokenizer
        self._guides = guides
        steering = (token for token in dense.tokenizer.get_added_vocab() if len(token) > 1)
        longest_first = sorted(steering, key=len, reverse=True)
        self._specials = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")

    def prompt(self, messages: list[dict[str, str]]) -> list[int]:
        """The tokens of the messages, by the file's chat template."""
        plain = [{"role": m["role"], "content": self._plain(m["content"])} for m in messages]
        ids: list[int] = self._tokenizer.apply_chat_template(
            plain, add_generation_prompt=True, return_dict=False
        )
        return ids

    def _plain(self, text: str) -> str:
        while (safe := self._specials.sub(lambda m: m[0][0] + " " + m[0][1:], text)) != text:
            text = safe
        return text

    def job(self, body: Mapping[str, Any], say: Callable[[str, str | None], None]) -> Job:
        """The job for a request body. Raises `Refused`."""
        try:
            prompt = self.prompt(body["messages"])
        except (KeyError, TypeError) as error:
            raise Refused(f"wanted messages with role and content: {error!r}") from error
        room = self.engine.window - len(prompt)
        if room < 1:
            raise Refused(
                f"the request ({len(prompt)} tokens) exceeds the available context size "
                f"({self.engine.window} tokens)",
                "exceed_context_size_error",
            )
        stop = body.get("stop") or ()
        asked = body.get("max_tokens") or body.get("max_completion_tokens") or room
        return Job(
            prompt=prompt,
            limit=min(int(asked), room),
            say=say,
            temperature=float(body.get("temperature", 0.8)),
            penalty=float(body.get("frequency_penalty") or 0.0),
            top_p=float(body.get("top_p", TOP_P)),
            stop=(stop,) if isinstance(stop, str) else tuple(stop),
            dice=random.Random(body.get("seed")),  # noqa: S311 - for sampling, not for secrets
            guide=self._guide(body),
        )

    def _guide(self, body: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a Guide or nothing
        form = body.get("response_format") or {}
        try:
            if body.get("grammar"):
                return self._guides.of_grammar(body["grammar"])
            if form.get("type") == "json_schema":
                return self._guides.of_schema(form["json_schema"]["schema"])
            if form.get("type") == "json_object":
                return self._guides.of_schema(form.get("schema") or {"type": "object"})
        except (KeyError, ValueError) as error:
            raise Refused(f"failed to parse grammar or schema: {error}") from error
        return None


class Answer:
    """An answer passed from the engine's thread to the event loop."""

    def __init__(self) -> None:
        self._heard: asyncio.Queue[Said] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()

    def say(self, text: str, why: str | None) -> None:
        """Called by the engine."""
        self._loop.call_soon_threadsafe(self._heard.put_nowait, (text, why))

    async def pieces(self, job: Job) -> AsyncGenerator[Said]:
        """Text as it arrives, with the finish reason at the end. Closing it early ends the job."""
        try:
            while True:
                text, why = await self._heard.get()
                yield text, why
                if why is not None:
                    return
        finally:
            job.cancelled = True


def application(chat: Chat) -> Starlette:
    """The HTTP application."""

    async def complete(request: Request) -> Response:
        answer = Answer()
        try:
            body = json.loads(await request.body())
            job = await asyncio.to_thread(chat.job, body, answer.say)
        except (Refused, ValueError) as error:
            return _error(str(error), getattr(error, "kind", "invalid_request_error"), 400)
        chat.engine.submit(job)
        head = {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": chat.name,
        }
        if body.get("stream"):
            usage = (body.get("stream_options") or {}).get("include_usage", False)
            events = _events(answer, job, head, usage=usage)
            return StreamingResponse(events, media_type="text/event-stream")
        said = [one async for one in answer.pieces(job)]
        text, why = "".join(piece for piece, _ in said), said[-1][1]
        if why == "error":
            return _error(text, "server_error", 500)
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": why}
        whole = {"object": "chat.completion", "choices": [choice], "usage": _usage(job)}
        return JSONResponse(head | whole)

    async def models(_: Request) -> Response:
        listed = [{"id": chat.name, "object": "model", "owned_by": "omoide"}]
        return JSONResponse({"object": "list", "data": listed})

    async def metrics(_: Request) -> Response:
        names = ("generated", "prompted", "steps", "finished", "busy")
        return JSONResponse({name: getattr(chat.engine, name) for name in names})

    return Starlette(
        routes=[
            Route("/v1/chat/completions", complete, methods=["POST"]),
            Route("/v1/models", models),
            Route("/metrics", metrics),
        ]
    )


async def _events(
    answer: Answer, job: Job, head: Mapping[str, object], *, usage: bool
) -> AsyncGenerator[str]:
    head = {**head, "object": "chat.completion.chunk"}

    def event(**more: object) -> str:
        return f"data: {json.dumps({**head, **more}, ensure_ascii=False)}\n\n"

    async for text, why in answer.pieces(job):
        if why == "error":
            yield event(error={"code": 500, "message": text, "type": "server_error"})
            return
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": why}
        yield event(choices=[choice])
    if usage:
        yield event(choices=[], usage=_usage(job))
    yield "data: [DONE]\n\n"


def _usage(job: Job) -> dict[str, int]:
    prompt, answer = len(job.prompt), len(job.tokens)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
    }


def _error(message: str, kind: str, status: int) -> JSONResponse:
    body = {"error": {"code": status, "message": message, "type": kind}}
    return JSONResponse(body, status_code=status)


def open_chat(
    path: Path,
    *,
    device: str,
    adapter: Path | None = None,
    strength: float = 1.0,
    slots: int = 128,
    window: int = 4096,
    graphs: bool = True,
) -> Chat:
    """Load a model, and start the engine."""
    dtype = "bfloat16" if device == "cuda" else "float32"
    began = time.monotonic()
    dense = open_dense(path, dtype=dtype, device=device)
    model = dense.model
    if adapter is not None:
        model = _adapted(model, adapter, weights=path, strength=strength)
    vocabulary = model.config.vocab_size
    guides = Guides(dense.tokenizer, vocabulary=vocabulary)
    engine = Engine(
        model,
        dense.tokenizer,
        ends=dense.ends,
        guides=guides,
        slots=slots,
        window=window,
        graphs=graphs,
    )
    print(f"{path.name} on {device} in {time.monotonic() - began:.1f} s", flush=True)
    return Chat(path, dense, engine, guides)


def _adapted(model: Any, adapter: Path, *, weights: Path, strength: float) -> Any:  # noqa: ANN401
    """The model with so much of the adapter merged into it."""
    from peft import PeftConfig, PeftModel

    with TemporaryDirectory() as folder:
        if adapter.is_file():
            unpack_adapter(adapter, Path(folder), weights=weights)
            adapter = Path(folder)
        config = PeftConfig.from_pretrained(adapter)
        config.lora_alpha *= strength
        return PeftModel.from_pretrained(model, adapter, config=config).merge_and_unload()


def main() -> None:
    """Load a model and serve it until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--adapter", type=Path, help="peft's folder or a LoRA file, to merge")
    parser.add_argument("--strength", type=float, default=1.0, help="how much of the adapter")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--slots", type=int, default=128, help="concurrent answers")
    parser.add_argument("--window", type=int, default=4096, help="tokens of prompt and answer")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--no-graphs", dest="graphs", action="store_false")
    options = vars(parser.parse_args())
    port = options.pop("port")
    chat = open_chat(options.pop("model"), **options)
    uvicorn.run(application(chat), port=port, log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
