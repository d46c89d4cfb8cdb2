"""What models and clocks must offer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    """One row a text, each of length 1."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


class Skill(StrEnum):
    """What a model can be tuned for. An adapter claims some of them, a request names the one it
    needs; a model without such an adapter answers by itself."""

    NOTES = "notes"
    """What a session told about one speaker, in English."""
    NOTES_ZH = "notes-zh"
    """The same in Chinese: what a model does well by itself in one language it may need help with
    in another, and so on."""
    NOTES_JA = "notes-ja"
    NOTES_KO = "notes-ko"
    NOTES_VI = "notes-vi"
    MEMOS = "memos"
    EVENTS = "events"
    FUSED = "fused"
    """A whole session written down at once."""
    CHOICE = "choice"
    """Which memos are related to what was said."""
    ITERATION = "iteration"
    """The old memory and a session become the new memory."""
    REPLY = "reply"
    ANSWER = "answer"
    """A reply to somebody who asks after their own life, where it matters most to know what one
    was not told."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a chat model. `schema` and `grammar` are wishes: a model that cannot
    be held to them answers freely, so whoever asks must parse with care."""

    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    frequency_penalty: float = 0.0
    schema: Mapping[str, object] | None = None
    """JSON schema that the answer must satisfy."""
    grammar: str | None = None
    """GBNF grammar of the answer; only llama.cpp knows these. Together with `schema` it is the
    narrower of the two: a model that takes it is held to it, any other to the schema."""
    skill: Skill | None = None
    """What a tuned model should bring to it: no part of the question, and only a wish too."""


@dataclass(frozen=True, kw_only=True)
class Completion:
    """A finished answer and what it took."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    finish: Literal["stop", "length"]
    cached_tokens: int = 0
    """How many of the prompt's tokens were already computed."""
    by: str = ""
    """Who wrote it, where the model's name does not say it all: the weights, and after a `+` the
    adapter that had a part in this answer."""


class ChatModel(Protocol):
    """A language model that answers messages."""

    @property
    def name(self) -> str:
        """What it is called: the weights, and after a `+` each adapter it may use. An answer says
        by itself which one it did use (`Completion.by`)."""

    @property
    def window(self) -> int:
        """How many tokens prompt and answer may have together."""

    def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """Yield the answer in pieces as they come, then exactly one `Completion` with all of it.

        Closing the iterator early stops the generation. Raises `ModelUnavailable` (after the
        adapter's own bounded retries), `ModelStalled`, `ModelRefused` or `ContextTooLong`; and
        `DownloadFailed` or `MissingExtra` if it cannot be got ready at its first use.
        """

    async def count(self, text: str) -> int:
        """Number of tokens in `text`; an estimate where the tokenizer is out of reach."""

    async def close(self) -> None:
        """Let go of whatever it holds. Calling it again does nothing."""


@runtime_checkable
class Signing(Protocol):
    """A chat model that can say beforehand who will answer: where an answer goes out piece by
    piece, its author is named with the first, and `Completion.by` comes with the last."""

    def author(self, request: Request) -> str:
        """The weights, and after a `+` the adapter that this request gets."""


@dataclass(frozen=True, kw_only=True)
class Space:
    """Where vectors live: only those of the same space may be compared."""

    name: str
    version: str
    dimensions: int


class Embedder(Protocol):
    """Turns text into vectors of length 1."""

    @property
    def space(self) -> Space:
        """The space of its vectors."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, in order. Raises `ModelError`; and `DownloadFailed` or
        `MissingExtra` if it cannot be got ready at its first use."""

    async def close(self) -> None:
        """Let go of whatever it holds. Calling it again does nothing."""


@dataclass(frozen=True, kw_only=True)
class TokenVectors:
    """The tokens of one text as an encoder sees them."""

    vectors: Vectors
    """A row a token, special tokens too; not of length 1."""
    counts: Vectors
    """1 for a token of the text, 0 for a special one."""


class TokenEncoder(Protocol):
    """Gives the vectors of a text's tokens, for measures that compare token by token."""

    @property
    def name(self) -> str:
        """Model, version and layer: to stand beside every figure."""

    async def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Of each text, in order; one that is too long is cut short. Raises `ModelError`,
        `DownloadFailed` or `MissingExtra`."""

    async def close(self) -> None:
        """Let go of whatever it holds. Calling it again does nothing."""


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
