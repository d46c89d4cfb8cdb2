"""llama.cpp in this process, through xllamacpp: one loaded GGUF file.

xllamacpp's server always opens a port on the loopback interface. A random key, kept only in this
object, protects it. We use the port for the tokenizer, which has no other interface. Everything
here blocks: `embedded` calls it from threads.
"""

from __future__ import annotations

import os
import re
import secrets
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import httpx

from omoide.adapters.models.gguf import read_head, read_metadata
from omoide.adapters.models.slots import common_prefix
from omoide.adapters.models.threads import compute_threads
from omoide.errors import MissingExtra, ModelUnavailable
from omoide.wire.certificates import certificates

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
    "message['content'] + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
_BATCH = 256
"""Prompt tokens per batch. Progress is reported, and a stop noticed, between two batches."""


TokenPiece = tuple[int, bytes]
"""A token's id, and what it stands for: not always whole characters."""


class LoadedModel(Protocol):
    """A loaded model, as `EmbeddedChat` uses it. Every method blocks."""

    def chat(self, body: Mapping[str, object], chunk: Callable[[dict[str, Any]], bool]) -> None:
        """Answer `body`; call `chunk` with each chunk until it returns True."""

    def tokens(self, text: str) -> list[int]:
        """The token ids of `text` as part of a prompt."""

    def pieces(self, text: str) -> list[TokenPiece]:
        """The tokens of `text` with what each stands for."""

    def close(self) -> None:
        """Free the model."""


@runtime_checkable
class KeepsStates(Protocol):
    """A loaded model whose state after a text can be written to a file and read back."""

    @property
    def runtime(self) -> str:
        """Name and version of what computes the states."""

    def beginning(self, messages: Sequence[Mapping[str, str]], text: str = "") -> str:
        """The text with which every prompt begins that begins with these messages, and goes on with
        a user's message that begins with `text`."""

    def read(self, text: str, body: Mapping[str, object], stopped: Callable[[], bool]) -> None:
        """Read `text` into the slot that `body` names, with its adapter."""

    def save(self, slot: int, name: str) -> bool:
        """Write the slot's state to a file in the folder of states. Returns whether it worked."""

    def restore(self, slot: int, name: str) -> bool:
        """Read a slot's state back. The slot must have been used with the same adapter before.
        Returns whether it worked."""


class Llama:
    """One loaded GGUF file: `slots` answers at a time, each with a full `window`.

    The key-value cache is not unified. In a unified cache of the same size, two prompts that do
    not fit together both fail with "Context size has been exceeded" (measured). So each slot has
    its own cache, and prompts that lose their slot are kept in up to `cache_mib` of memory.
    `adapters` are LoRA files, inactive until a request's `lora` activates them. `states` is the
    folder for states of slots.
    """

    def __init__(
        self,
        path: Path,
        *,
        window: int,
        slots: int,
        threads: int | None,
        cache_mib: int,
        adapters: Sequence[Path] = (),
        states: Path | None = None,
    ) -> None:
        head = read_head(path)
        for adapter in adapters:
            _check_adapter(adapter, path, architecture=head.architecture)
        if head.context_length and window > head.context_length:
            raise ModelUnavailable(
                f"{path.name} was trained on {head.context_length} tokens, but the window is set "
                f"to {window}; set it to {head.context_length} or less"
            )
        self._specials = _pattern(head.specials)
        self._key = secrets.token_urlsafe(32)
        params = _params(path, window=window, slots=slots, threads=threads, cache_mib=cache_mib)
        params.api_keys = [self._key]
        if states is not None:
            params.slot_save_path = f"{states}{os.sep}"
        if adapters:
            lora = _vendor().CommonAdapterLoraInfo
            params.lora_adapters = [lora(str(adapter), 0.0) for adapter in adapters]
        if not head.has_template:
            params.chat_template = CHATML
        try:
            self._server = _vendor().Server(params)
        except RuntimeError as error:
            raise ModelUnavailable(
                f"{path} could not be loaded ({error}); check that there is enough memory, or "
                "delete it and download it again"
            ) from error
        self._client = httpx.Client(
            base_url=self._server.listening_address,
            headers={"Authorization": f"Bearer {self._key}"},
            trust_env=False,  # never use a proxy for loopback
            timeout=60.0,
            verify=certificates(),
        )

    def plain(self, text: str) -> str:
        """`text` with its control tokens broken up, so that they are ordinary text.

        The chat endpoint parses "<|im_end|>" inside a message as the token itself, so a user could
        end their message and begin a system message. A space after the first character
        ("< |im_end|>") prevents that and reads the same to a person.
        """
        if self._specials is None:
            return text
        while (safe := self._specials.sub(lambda m: m[0][0] + " " + m[0][1:], text)) != text:
            text = safe
        return text

    def chat(self, body: Mapping[str, object], chunk: Callable[[dict[str, Any]], bool]) -> None:
        """Answer `body`, with control tokens in its messages broken up first."""
        messages = body["messages"]
        assert isinstance(messages, list)  # noqa: S101 - `embedded` builds it
        safe = [{**m, "content": self.plain(m["content"])} for m in messages]
        self._server.handle_chat_completions({**body, "messages": safe}, chunk)

    def tokens(self, text: str) -> list[int]:
        """The token ids of `text`, with control tokens broken up as in a message."""
        ids: list[int] = self._tokenized(text, pieces=False)
        return ids

    def pieces(self, text: str) -> list[TokenPiece]:
        """The same with what each token stands for. The runtime sends the bytes of what is no
        text by itself."""
        found = self._tokenized(text, pieces=True)
        return [(token["id"], _bytes(token["piece"])) for token in found]

    def _tokenized(self, text: str, *, pieces: bool) -> list[Any]:
        body = {"content": self.plain(text), "with_pieces": pieces}
        try:
            reply = self._client.post("/tokenize", json=body)
            reply.raise_for_status()
        except (httpx.HTTPError, RuntimeError) as error:  # RuntimeError: closed in the meantime
            raise ModelUnavailable(f"the embedded model's tokenizer failed: {error}") from error
        found: list[Any] = reply.json()["tokens"]
        return found

    @property
    def runtime(self) -> str:
        """See `KeepsStates`."""
        return f"xllamacpp {_vendor().__version__}"

    def beginning(self, messages: Sequence[Mapping[str, str]], text: str = "") -> str:
        """What the chat template makes of the messages and of any message after them: the common
        beginning of two prompts."""
        safe = [{**m, "content": self.plain(m["content"])} for m in messages]
        nexts = ({"role": "user", "content": self.plain(text) + word} for word in ("a", "b"))
        left, right = (self._post("/apply-template", {"messages": [*safe, m]}) for m in nexts)
        both = str(left.get("prompt", "")), str(right.get("prompt", ""))
        return both[0][: common_prefix(*both)]

    def read(self, text: str, body: Mapping[str, object], stopped: Callable[[], bool]) -> None:
        """Read `text`. One token has to be generated, which does not enter the state."""
        chosen = {name: body[name] for name in ("id_slot", "lora") if name in body}
        self._server.handle_completions(
            {
                "prompt": text,
                "n_predict": 1,
                "cache_prompt": True,
                "temperature": 0,
                "stream": True,
                "return_progress": True,
                **chosen,
            },
            lambda chunk: stopped(),
        )

    def save(self, slot: int, name: str) -> bool:
        """See `KeepsStates`."""
        return "n_saved" in self._post(f"/slots/{slot}?action=save", {"filename": name})

    def restore(self, slot: int, name: str) -> bool:
        """See `KeepsStates`."""
        return "n_restored" in self._post(f"/slots/{slot}?action=restore", {"filename": name})

    def _post(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        """The reply of the runtime's server; empty if it refuses or fails."""
        try:
            reply = self._client.post(path, json=body)
            value = reply.json() if reply.is_success else {}
        except (httpx.HTTPError, RuntimeError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}

    def close(self) -> None:
        """Free the model; its destructor stops the server's threads."""
        self._client.close()
        del self._server


def _bytes(piece: str | list[int]) -> bytes:
    return piece.encode() if isinstance(piece, str) else bytes(piece)


def _vendor() -> Any:  # noqa: ANN401 - xllamacpp ships no types
    # Waiting OpenMP threads must sleep: with spinning, two threads were slower than one on a busy
    # machine. libgomp reads this variable when it is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        return import_module("xllamacpp")
    except ImportError as error:
        raise MissingExtra(
            'an embedded model needs xllamacpp, which is not installed: pip install "omoide[local]"'
        ) from error


def _params(path: Path, *, window: int, slots: int, threads: int | None, cache_mib: int) -> Any:  # noqa: ANN401 - xllamacpp ships no types
    params = _vendor().CommonParams()
    params.model.path = str(path)
    params.n_ctx = window * slots
    params.n_parallel = slots
    params.kv_unified = False
    params.n_batch = params.n_ubatch = _BATCH
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads or compute_threads()
    params.cache_prompt = True
    params.cache_ram_mib = cache_mib
    params.ctx_shift = False  # a prompt that is too long is an error, never silently truncated
    params.fit_params = False  # use these parameters exactly, or fail
    params.warmup = False
    params.verbosity = -1
    params.hostnames = ["127.0.0.1"]
    params.n_threads_http = 2
    params.cors_origins = ""
    params.ui = params.endpoint_slots = params.endpoint_props = params.endpoint_metrics = False
    return params


def _check_adapter(adapter: Path, path: Path, *, architecture: str) -> None:
    """Raise a `ModelUnavailable` that says more than llama.cpp's plain failure."""
    found = read_metadata(adapter)
    if found.get("adapter.type") != "lora" or found.get("general.architecture") != architecture:
        raise ModelUnavailable(
            f"{adapter.name} is not a LoRA adapter for {path.name}; expected one for the "
            f"architecture {architecture!r}, made by `omoide tune convert`"
        )


def _pattern(specials: Sequence[str]) -> re.Pattern[str] | None:
    longest_first = sorted(specials, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))) if specials else None
