"""Ports for models, embedders and clocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from omoide.domain import OpenEnum

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[np.float32]"
"""One row per text, each of length 1."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


class Skill(OpenEnum):
    """What a LoRA adapter can be tuned for. An adapter declares its skills and a request names the
    one it needs; without a matching adapter the base model answers. A skill may be limited to one
    language, where the base model is weaker: `notes-ja` is the skill `notes` in Japanese."""

    NOTES = "notes"
    """Extract what a session says about one speaker."""
    MEMOS = "memos"
    EVENTS = "events"
    FUSED = "fused"
    """Write everything about a session in one call."""
    FACTS = "facts"
    """Note what a session tells, and which known facts that makes untrue."""
    CHOICE = "choice"
    """Choose the memos related to the user's message."""
    ITERATION = "iteration"
    """Merge the old summary and a session into a new summary."""
    REPLY = "reply"
    ANSWER = "answer"
    """Reply to a question about the user's own life, where it matters most to know what is not in
    memory."""
    GREETING = "greeting"
    """Greet the user after a pause."""

    @classmethod
    def knows(cls, name: str) -> bool:
        """Whether this names one of these skills, with or without a language suffix.

        >>> [Skill.knows(name) for name in ("notes", "notes-ja", "nothing", "x-ja", "")]
        [True, True, False, False, False]
        """
        base, _, language = name.partition("-")
        return base in tuple(cls) and (not language or len(language) == len("ja"))


@dataclass(frozen=True, kw_only=True, order=True)
class SharedStart:
    """How far a prompt is the same for every user: some whole messages, and how the next begins."""

    messages: int = 0
    text: str = ""
    """The beginning of the message after them."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request to a chat model. `schema` and `grammar` are best effort: a model that does not
    support them answers freely, so the caller must parse defensively."""

    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    frequency_penalty: float = 0.0
    schema: Mapping[str, object] | None = None
    """JSON schema that the answer must satisfy."""
    grammar: str | None = None
    """GBNF grammar of the answer; only llama.cpp supports these. If both are given, the grammar is
    the stricter one: a model that supports it uses it, any other uses the schema."""
    skill: Skill | None = None
    """The skill to use, if the model has an adapter for it. Best effort, and not part of the
    prompt."""
    language: str = ""
    """The language of the answer, if known: an adapter may serve a skill differently in it."""
    fixed: int = 0
    """How many of the first messages are the same for every user, such as worked examples. A model
    may keep what it computed for them, on disk too."""
    today: SharedStart = SharedStart()
    """A longer part that is the same for every user for some hours, because it has the date and the
    part of the day in it. A model may keep that as well."""
    background: bool = False
    """Whether nobody waits for the answer, so that requests somebody waits for go first."""


@dataclass(frozen=True, kw_only=True)
class Completion:
    """A finished answer and what it cost."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    finish: Literal["stop", "length"]
    cached_tokens: int = 0
    """How many of the prompt's tokens came from the cache."""
    by: str = ""
    """Which model wrote it, if the model's name does not tell: the weights, and after a `+` the
    LoRA adapter used for this answer."""


class ChatModel(Protocol):
    """A language model that answers messages."""

    @property
    def name(self) -> str:
        """Name of the weights, and after a `+` each LoRA adapter it may use. `Completion.by` says
        which one an answer did use."""

    @property
    def window(self) -> int:
        """Context window: the most tokens of prompt and answer together."""

    def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """Yield the answer piece by piece, then exactly one `Completion` with all of it.

        Closing the iterator early stops the generation. Raises `ModelUnavailable` (after the
        adapter's own bounded retries), `ModelStalled`, `ModelRefused` or `ContextTooLong`; and
        `DownloadFailed` or `MissingExtra` if it cannot be loaded at first use.
        """

    async def count(self, text: str) -> int:
        """Number of tokens in `text`; an estimate if the tokenizer is not available."""

    async def close(self) -> None:
        """Release all resources. Calling it again does nothing."""


@runtime_checkable
class AuthoredModel(Protocol):
    """A chat model that can say in advance which weights and adapter will answer. A streamed answer
    names its author with the first piece, but `Completion.by` comes only with the last."""

    def author(self, request: Request) -> str:
        """Name of the weights, and after a `+` the LoRA adapter used for this request."""


def is_tuned_for(model: ChatModel, skill: Skill) -> bool:
    """Whether an adapter of the model claims that skill. One that serves all requests claims
    none."""
    if not isinstance(model, AuthoredModel):
        return False
    plain, skilled = (
        model.author(Request(messages=(), max_tokens=1, skill=asked)) for asked in (None, skill)
    )
    return plain != skilled


@runtime_checkable
class PreparableModel(Protocol):
    """A chat model that can do part of the work before the user's message is there."""

    async def prepare(self, request: Request, *, begun: str = "") -> None:
        """Load the model and read all messages of `request` but the last, and of that what it
        begins with, so that an answer to a request that begins alike comes sooner. Raises the
        errors of `stream`."""


@dataclass(frozen=True, kw_only=True)
class Likelihood:
    """How likely a model finds an answer."""

    logprob: float
    """Natural logarithm of the probability of the whole answer."""
    tokens: int
    """Tokens of the answer."""
    prompt_tokens: int
    seconds: float


@runtime_checkable
class ScoringModel(Protocol):
    """A chat model that can tell how likely it is to give a certain answer."""

    async def likelihood(self, request: Request, answer: str) -> Likelihood:
        """How likely `answer` is as the reply to the request's messages. Raises the errors of
        `stream`."""


@runtime_checkable
class BatchableModel(Protocol):
    """A chat model whose requests can be written to a file and answered later, in the form of
    OpenAI's Batch API."""

    def body(self, request: Request) -> dict[str, object]:
        """The request as the JSON body of a chat completion."""

    def read(self, body: Mapping[str, object], request: Request) -> Completion:
        """The answer in the body of a chat completion. Raises `ModelUnavailable` if it is none, and
        `ModelRefused` if a content filter stopped it."""

    def accept_rejection(self, body: Mapping[str, object], *, status: int, reason: str) -> bool:
        """Take note that this body was rejected. True if the next one will leave out what was
        rejected; False if there is nothing to leave out."""

    def allow_thinking(self) -> None:
        """Take note that this model thinks first and spent all its tokens before its first word:
        from now on bodies have room for that."""


@dataclass(frozen=True, kw_only=True)
class Space:
    """Name, version and dimensions of an embedder. Only vectors of the same space may be
    compared."""

    name: str
    version: str
    dimensions: int


class Embedder(Protocol):
    """Turns text into vectors of length 1."""

    @property
    def space(self) -> Space:
        """The space of the vectors."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector per text, in order. Raises `ModelError`, and `DownloadFailed` or
        `MissingExtra` if it cannot be loaded at first use."""

    async def close(self) -> None:
        """Release all resources. Calling it again does nothing."""


@runtime_checkable
class QueryEmbedder(Protocol):
    """An embedder with an encoder of its own for what is searched for, as DPR has."""

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """One vector per text, in order, to be compared with those of `Embedder.embed`. Raises the
        errors of `embed`."""


async def query_vectors(embedder: Embedder, text: str) -> Vectors:
    """The vector of a text that is searched for, as one row: by the encoder for queries if there
    are two, else by the only one."""
    if hasattr(embedder, "embed_queries"):  # a tenth of the time of asking for the protocol
        vectors: Vectors = await embedder.embed_queries([text])
        return vectors
    return await embedder.embed([text])


@dataclass(frozen=True, kw_only=True)
class TokenVectors:
    """The token vectors of one text."""

    vectors: Vectors
    """One row per token, including special tokens; not normalised."""
    counts: Vectors
    """1 for a token of the text, 0 for a special one."""


class TokenEncoder(Protocol):
    """Encodes the tokens of a text as vectors, for measures that compare token by token."""

    @property
    def name(self) -> str:
        """Model, version and layer, to report beside every number."""

    async def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The token vectors of each text, in order. Texts that are too long are truncated. Raises
        `ModelError`, `DownloadFailed` or `MissingExtra`."""

    async def close(self) -> None:
        """Release all resources. Calling it again does nothing."""


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
