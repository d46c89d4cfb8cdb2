"""Everything that can be set, in one frozen object, read once."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omoide.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping


class Address(str):
    """Where a database server is, as a URL. What is shown of it leaves the password out."""

    __slots__ = ()

    def __repr__(self) -> str:
        scheme, _, rest = self.partition("://")
        return f"<{scheme}://…@{rest.rpartition('@')[2].partition('?')[0]}>"


def database(text: str) -> Path | Address:
    """A database as people name it: a file, or the URL of a PostgreSQL server.

    >>> database("postgresql://ann:secret@db.example/omoide")
    <postgresql://…@db.example/omoide>
    """
    if text.startswith(("postgresql://", "postgres://")):
        return Address(text)
    return Path(text).expanduser()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a memory is made of. Each field can be set by the variable `OMOIDE_<FIELD>`."""

    db: Path | Address = field(
        default_factory=lambda: Path.home() / ".local/share/omoide/memory.sqlite"
    )
    """The database file, or the URL of a PostgreSQL server's database."""
    key: str = field(default="", repr=False)
    """What the database file is encrypted with; empty if it is not (`omoide encrypt`)."""
    partitions: int = 16
    """Parts of each table that grows, in a PostgreSQL database that is new; 0 for none, where an
    extension distributes tables itself."""
    vectors: str = ""
    """Where the vectors are, if not with the words: `qdrant://host:port`, or `qdrant+https://…`."""
    vectors_key: str = field(default="", repr=False)
    """For that server."""
    tenant: str = "default"
    """Whose users these are; tenants never see each other."""
    user: str = "me"
    """Whose memory, where nobody else is named."""
    mechanisms: tuple[str, ...] = ("summary", "search")
    """How it remembers: names out of `omoide mechanisms`, in the order they run."""
    model: str = "default"
    """Who replies: a name of the catalogue, a GGUF file, or the URL of an endpoint with
    `#model-name` behind it."""
    iterator: str = ""
    """Who rewrites the memory; the same as `model` if empty."""
    adapter: str = ""
    """A LoRA file (GGUF) that changes the embedded model for all requests; `none` for its bare
    weights; if empty, the adapters that come with omoide, each for what it was tuned for."""
    api_key: str = field(default="", repr=False)
    """For endpoints."""
    grammar: bool = False
    """Whether the endpoint takes GBNF grammars, as llama.cpp's server does."""
    form: str = "small"
    """How the memory is asked for: `small` for any model, `paper` for large ones."""
    writer: str = "separate"
    """How sessions are written down: `separate`, each mechanism by its own calls; or `fused`, all
    from one call a session."""
    reply_form: str = ""
    """How a reply is asked for: `small`, with worked examples, which is what a local model gets if
    this is empty; `chat`, which is what an endpoint gets; `agent` with a sense of time; or one of
    the paper's single prompts: `paper`, `retrieval`, `retrieval+memory`, `2-shot`, `3-shot`."""
    persona: str = ""
    """Who the assistant is, for example `a gardener who loves riddles`; an old friend if empty."""
    partner: str = "assistant"
    """Whom the user talks with: an `assistant`, of whose words about itself only what its persona
    bears out and what it promised or advised are noted (by `form` small; `paper` notes both
    speakers), and whose own earlier replies a local model is shown only when somebody asks after
    them; or a `person`, as in dialogues of two people, of whom all is remembered."""
    called: str = ""
    """What the user is called, where neither turns nor memory say so."""
    timezone: str = ""
    """Where the user is, for example `Asia/Tokyo`; the machine's own if empty."""
    embedder: str = "multilingual"
    """A name, the URL of an endpoint with `#model-name`, or `none`."""
    models: Path = field(default_factory=lambda: Path.home() / ".cache/omoide/models")
    """Where weights are kept."""
    offline: bool = False
    """Never fetch weights: use what is in the cache."""
    idle: timedelta = timedelta(minutes=30)
    """A pause after which a new session begins."""
    window: int = 8192
    """Tokens the embedded model may hold."""
    threads: int = 0
    """Threads of the embedded model; 0 chooses."""
    timeout: float = 120.0
    """Seconds without a token after which a model counts as stalled."""
    sentences: int = 20
    """Most sentences a memory may have."""
    memory_tokens: int = 1600
    """Most tokens of memory in the prompt of a reply, all mechanisms together."""
    recall: int = 6
    """Most items that a search brings to a reply."""
    recall_tokens: int = 400
    """Most tokens of them."""
    reply_tokens: int = 400
    """Most tokens of a reply."""
    longest: int = 100_000
    """Most characters of one turn."""

    @property
    def asks_by(self) -> str:
        """The reply form: as set, else by where the model is. What runs here is small."""
        return self.reply_form or ("chat" if "://" in self.model else "small")

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Settings:
        """Defaults, with what the environment sets. An unknown `OMOIDE_…` is an error, since it
        is most likely a misspelt one."""
        known = {f"OMOIDE_{f.name.upper()}": f.name for f in fields(cls)}
        given = {k: v for k, v in environment.items() if k.startswith("OMOIDE_") and v}
        if unknown := sorted(given.keys() - known.keys()):
            raise BadInput(f"unknown setting {unknown[0]}; there are {', '.join(sorted(known))}")
        base = cls()
        parsed: dict[str, Any] = {
            known[k]: _parse(k, v, getattr(base, known[k])) for k, v in given.items()
        }
        return replace(base, **parsed)


def _parse(name: str, text: str, default: object) -> object:
    """`text` as the type that `default` has; minutes for a duration."""
    try:
        if isinstance(default, bool):
            return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[
                text.lower()
            ]
        if isinstance(default, timedelta):
            return timedelta(minutes=float(text))
        if isinstance(default, tuple):
            return tuple(part.strip() for part in text.split(",") if part.strip())
        if isinstance(default, Path):
            return database(text) if name == "OMOIDE_DB" else Path(text).expanduser()
        if isinstance(default, int | float):
            return type(default)(text)
    except (KeyError, ValueError, OverflowError) as error:
        kind = "a number of minutes" if isinstance(default, timedelta) else type(default).__name__
        raise BadInput(f"{name}={text!r} is not {kind}") from error
    return text
