"""All settings, in one frozen object that is read once."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omoide.errors import BadInput
from omoide.presets import DEFAULT, PRESETS, Preset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Address(str):
    """The URL of a database server. Its repr leaves out user name, password and query."""

    __slots__ = ()

    def __repr__(self) -> str:
        scheme, _, rest = self.partition("://")
        return f"<{scheme}://…@{rest.rpartition('@')[2].partition('?')[0]}>"


def preset_named(name: str) -> Preset:
    """The preset of that name. Raises `BadInput`, listing the names, if there is none."""
    if name not in PRESETS:
        raise BadInput(f"there is no preset {name!r}; choose from {', '.join(PRESETS)}")
    return PRESETS[name]


class AppliedPreset(str):
    """The name of a preset whose values the settings already have, so that a copy of them with
    another value keeps that value."""

    __slots__ = ()


def database(text: str) -> Path | Address:
    """Parse the name of a database: a file, or the URL of a server (PostgreSQL, or a plug-in's).

    >>> database("postgresql://ann:secret@db.example/omoide")
    <postgresql://…@db.example/omoide>
    """
    if "://" in text:
        return Address(text)
    return Path(text).expanduser()


OF_CLIENTS = frozenset({"OMOIDE_URL", "OMOIDE_SERVER_KEY"})
"""Where clients of a server find it, and their API key for it: no settings of omoide itself."""
LEAST = {"memory_tokens": -1, "repeated_sentences": -1, "window": 1, "max_turn_chars": 1}
"""The least value of numbers that 0 is not the least of."""
MOST = {"idle": 52_560_000, "retention": 36_500}
"""The greatest value of spans of time: a century, in minutes and in days. No date would be left."""
SERVER_KEY = re.compile(r"omo_[0-9a-f]{10}_")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a memory. Each can be set by the environment variable `OMOIDE_<FIELD>`."""

    preset: str = AppliedPreset(DEFAULT)
    """The named set of settings to start from, such as a paper's (`omoide mechanisms --as NAME`).
    Settings given beside it count more, also if they say what is the default without a preset;
    only in a direct call of `Settings(…)` such a value cannot be told from one that was not
    given: use `Settings.of(preset, …)`."""
    db: Path | Address = field(
        default_factory=lambda: Path.home() / ".local/share/omoide/memory.sqlite"
    )
    """The database file, or the URL of a PostgreSQL server's database."""
    key: str = field(default="", repr=False)
    """The key that encrypts the database file; empty if it is not encrypted (`omoide encrypt`)."""
    spool: str = ""
    """The folder where words wait that the database cannot take; if empty, one beside the database
    file, or in the data folder for a server's database. `none` for none: so it is with an encrypted
    database, since this folder is not encrypted."""
    partitions: int = 16
    """Partitions of each growing table in a new PostgreSQL database; 0 for none, for example where
    an extension distributes tables itself."""
    vectors: str = ""
    """Where vectors are stored, if not in the database: `qdrant://host:port` or
    `qdrant+https://…`."""
    vectors_key: str = field(default="", repr=False)
    """The API key for that server."""
    tenant: str = "default"
    """The tenant that the users belong to; tenants never see each other's data."""
    user: str = "me"
    """The user, where no other is named."""
    mechanisms: tuple[str, ...] = ("summary", "search")
    """The mechanisms to use: names from `omoide mechanisms`, in the order they run."""
    layers: tuple[str, ...] = ("human-recall", "memos")
    """The mechanisms whose memories are written from the facts of each session, without a call:
    forgetting curves and topics to look at. They do not add to prompts, but for the topics that a
    large model gets with a question. `none` for none."""
    model: str = "default"
    """The model that replies: a name from the catalogue, a GGUF file, a file of the hub
    (`hf:OWNER/REPOSITORY/FILE.gguf`), or the URL of an endpoint followed by `#model-name`; `none`
    to record and recall without a chat model. An endpoint speaks Chat Completions unless its URL
    begins with `responses+`, `anthropic+` or `ollama+`."""
    summary_model: str = ""
    """The model that writes the memory; the same as `model` if empty."""
    adapter: str = ""
    """A LoRA file (GGUF) applied to the embedded model for all requests; `none` for the bare
    weights; if empty, the adapters that come with omoide, each for the skill it was tuned for."""
    api_key: str = field(default="", repr=False)
    """The API key for endpoints."""
    grammar: bool = False
    """Whether the endpoint accepts GBNF grammars, as llama.cpp's server does."""
    form: str = "small"
    """How the model is asked for the summary unless facts are written: `small` for any model,
    `paper` for large ones."""
    writer: str = ""
    """How sessions are digested: `facts` (the default: one call a session for facts, from which all
    mechanisms take theirs), `separate` (each mechanism makes its own calls, as the papers have it;
    the default if `form` is `paper`) or `fused` (one call for all of them, each with its own
    guards)."""
    profile: str = "auto"
    """How strong the models are that write facts and reply: `large`, `small`, or `auto`, by their
    names. It decides how they are asked, and how much of memory a prompt may hold."""
    reply_form: str = ""
    """How the model is asked for a reply: `small`, with worked examples (the default for a local
    model); `chat` (the default for an endpoint); `agent`, with a sense of time, and `agent+clock`,
    with the time to the minute; or one of Wang et al.'s single prompts: `paper`, `context`,
    `retrieval`, `retrieval+memory`, `2-shot`, `3-shot`."""
    persona: str = ""
    """Who the assistant is, for example `a gardener who loves riddles`; an old friend if empty."""
    guards: str = "refuse"
    """What becomes of a model's answer in which the guards find a fault: `refuse` (it is asked for
    again, and kept out of memory; a small model's reply that loops is cut off) or `flag` (it is
    taken as it is, and the faults are noted; only an answer that cannot be read is left out). Facts
    are always flagged."""
    partner: str = "assistant"
    """Whom the user talks with. `assistant`: what it says about itself is noted only if its persona
    supports it or if it is a promise or advice (with `form` small; `paper` notes both speakers),
    and a local model sees its own earlier replies only when the user asks about them. `person`: a
    human, as in dialogues of two people; everything they say is remembered."""
    user_name: str = ""
    """The user's name, where neither turns nor memory give it."""
    timezone: str = ""
    """The user's time zone, for example `Asia/Tokyo`; the machine's if empty."""
    embedder: str = "multilingual"
    """A name, the URL of an endpoint with `#model-name@dimensions`, or `none`. A model that encodes
    what is searched for by another one, as DPR does, is given as `#model-name|query-model@768`."""
    weights_dir: Path = field(default_factory=lambda: Path.home() / ".cache/omoide/models")
    """Where model weights are cached."""
    offline: bool = False
    """Never download weights: use only what is in the cache."""
    hub: str = "https://huggingface.co"
    """The hub that `hf:OWNER/REPOSITORY/FILE.gguf`, the catalogue's weights and those of the
    embedders `gte-small` and `minilm` come from."""
    local_servers: tuple[str, ...] = (
        "http://127.0.0.1:11434",
        "http://127.0.0.1:1234",
        "http://127.0.0.1:8080",
        "http://127.0.0.1:8000",
    )
    """Where `omoide models` and the first `omoide chat` look for a running Ollama, LM Studio,
    llama.cpp or vLLM; `none` to not look."""
    idle: timedelta = timedelta(minutes=30)
    """A pause after which a new session begins: between the times of two turns (unless the caller
    names the conversation), or since the last one by the memory's own clock."""
    window: int = 8192
    """The context window of the model, in tokens. An endpoint does not tell its own: set it for a
    model that reads more, or long sessions are digested in parts."""
    threads: int = 0
    """Threads of the embedded model; 0 chooses automatically."""
    prompt_cache: int = 256
    """Megabytes on disk for what the embedded model computed for the fixed part of prompts, which
    every process would have to read again otherwise; never a user's words. 0 for none."""
    timeout: float = 120.0
    """Seconds without a token after which a model counts as stalled."""
    max_sentences: int = 20
    """Most sentences in the summary."""
    retention: int = 0
    """Days after which a fact is no longer remembered unless it is pinned; 0 for ever. A fact keeps
    the time that it got when it was learned."""
    memory_tokens: int = 0
    """Most tokens of memory in the prompt of a reply, all mechanisms together; 0 chooses by the
    model's profile: 1,600 for a small one, 4,600 for a large one. -1 for all that the window
    holds, as the papers have it."""
    recall_items: int = 0
    """Most items that search adds to the prompt of a reply; 0 chooses by the model: 6 or 30."""
    recall_tokens: int = 0
    """Most tokens that these items may take; 0 chooses by the model: 400 or 3,000."""
    repeated_sentences: int = -1
    """How many sentences of the summary are repeated next to the user's message, those nearest to
    it; 0 shows the memory once, -1 chooses by the model: 5 for a small one, none for a large one.
    Needs an embedder."""
    event_fading: float = 1.1e8
    """The unit of time of the forgetting curve of events, in seconds: the larger, the more slowly
    they fade. The default was learnt from data; 1.1e7 reproduces Table 1 of Hou et al. 2024."""
    event_spacing: float = 1.1e7
    """The unit of time of consolidation, in seconds: how long a pause must be for a recall to
    strengthen an event much."""
    event_threshold: float = 0.86
    """The recall probability that an event must exceed to be recalled."""
    event_items: int = 3
    """Most events that human-like recall adds to the prompt of a reply."""
    event_relevance: str = "calibrated"
    """What relevance is: `calibrated`, the cosine mapped for the embedder (or for the user, after
    `omoide calibrate`), or `cosine`, as it is."""
    event_emotion: float = 0.0
    """How much more slowly an emotional event fades: its consolidation is multiplied by
    1 + emotion × how strongly it was felt."""
    event_labels: bool = False
    """Whether an event's topics and keywords count in recall and are shown with it. Then its
    relevance is that of its text alone or with them, whichever is greater."""
    retire_events: bool = True
    """Whether an event that a newer one contradicts, or that yields to a newer habit, is no longer
    recalled."""
    compression: str = "budget"
    """How the dialogue of memos is compressed: `budget` (the least informative clauses go),
    `random` (the model's tokens, at random), `function-words` (particles and auxiliaries; needs the
    language's word analyser) or `none`."""
    compression_percent: int = 25
    """How much of it is dropped, 0 to 100: of all tokens, or of all function words."""
    keep_negation: bool = True
    """Whether `function-words` keeps auxiliaries that negate (Japanese ない, ず). Without them a
    memo may say the opposite of what was said."""
    reply_tokens: int = 0
    """Most tokens of a reply; 0 chooses by the model: 400 for a small one, which loops rather than
    writes more, or 4,000, less if the window has no room for them."""
    max_turn_chars: int = 100_000
    """Most characters of one turn."""
    telemetry: str = "off"
    """Whether OpenTelemetry is told of model calls and of what memory does: `off`, `on`, or
    `content`, which adds what was searched for and found."""
    webhooks: tuple[str, ...] = ()
    """Addresses that are told when a memory was updated, a fact superseded or work given up; no
    others are ever called."""
    webhook_secret: str = field(default="", repr=False)
    """The secret that webhooks are signed with."""
    webhook_texts: bool = False
    """Whether webhooks have the texts of facts, not just their ids."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            number = value / timedelta(minutes=1) if isinstance(value, timedelta) else value
            if not isinstance(number, int | float):
                continue
            if not number >= (least := LEAST.get(name, 0)):
                raise BadInput(f"{name} must be at least {least}, not {number}")
            if number > (most := MOST.get(name, number)):
                raise BadInput(f"{name} must be at most {most}, not {number}")
        if isinstance(self.preset, AppliedPreset):
            return
        wanted = preset_named(self.preset)
        plain = type(self)()
        for name, value in wanted.settings.items():
            if getattr(self, name) == getattr(plain, name):
                object.__setattr__(self, name, value)
        object.__setattr__(self, "preset", AppliedPreset(wanted.name))

    @classmethod
    def of(cls, preset: str, **fields: object) -> Settings:
        """The settings of a preset, with other values for some of them.

        >>> Settings.of("wang2023").mechanisms
        ('summary',)
        """
        return cls().changed(preset=preset, **fields)

    @property
    def effective_reply_form(self) -> str:
        """The reply form: as set, else `chat` for an endpoint and `small` for a local model."""
        return self.reply_form or ("chat" if "://" in self.model else "small")

    @property
    def effective_writer(self) -> str:
        """The writer: as set, else `separate` for the paper's form and `facts` otherwise."""
        return self.writer or ("separate" if self.form == "paper" else "facts")

    @property
    def remote(self) -> bool:
        """Whether the model that writes the memory is behind an endpoint."""
        return "://" in (self.summary_model or self.model)

    @classmethod
    def read(cls, environment: Mapping[str, str], *, preset: str | None = None) -> Settings:
        """The defaults, overridden by the preset that is given or that the environment names, and
        this by the environment. An unknown `OMOIDE_…` variable is an error, since it is most
        likely misspelt."""
        known = {f"OMOIDE_{f.name.upper()}": f.name for f in dataclass_fields(cls)}
        variables = {
            k: v
            for k, v in environment.items()
            if k.startswith("OMOIDE_") and v and k not in OF_CLIENTS
        }
        if unknown := sorted(variables.keys() - known.keys()):
            raise BadInput(_unknown_setting(unknown[0], known))
        if SERVER_KEY.match(variables.get("OMOIDE_KEY", "")):
            raise BadInput(
                "OMOIDE_KEY is the key that encrypts the database file, and what it holds is an "
                "API key of a server: put that into OMOIDE_SERVER_KEY, and unset OMOIDE_KEY"
            )
        named = variables.pop("OMOIDE_PRESET", DEFAULT)
        base = cls.of(preset or named)
        parsed: dict[str, Any] = {
            known[k]: _parse(k, v, getattr(base, known[k])) for k, v in variables.items()
        }
        return replace(base, **parsed)

    def changed(self, **fields: object) -> Settings:
        """A copy with some fields replaced. Values may be written as in the environment: a path or
        URL as text, a list of mechanisms, minutes for a duration. With `preset`, its values come
        first, then the other fields."""
        known = {f.name for f in dataclass_fields(self)}
        if unknown := sorted(fields.keys() - known):
            raise BadInput(_unknown_setting(unknown[0], known))
        base = self
        if "preset" in fields:
            base = self._based_on(str(fields["preset"]))
        rest = {k: v for k, v in fields.items() if k != "preset"}
        return replace(base, **{k: _coerced(k, v, getattr(base, k)) for k, v in rest.items()})

    def _based_on(self, name: str) -> Settings:
        """These settings with a preset's values, instead of those of the one they had."""
        old, new, plain = preset_named(self.preset), preset_named(name), type(self)()
        back = {k: getattr(plain, k) for k, v in old.settings.items() if getattr(self, k) == v}
        values: dict[str, Any] = {**back, **new.settings, "preset": AppliedPreset(new.name)}
        return replace(self, **values)


def _coerced(name: str, value: object, default: object) -> Any:  # noqa: ANN401 - of the field's type
    if isinstance(value, str):
        return _parse(f"OMOIDE_{name.upper()}", value, default)
    if isinstance(default, timedelta) and isinstance(value, int | float):
        return timedelta(minutes=value)
    if isinstance(default, tuple) and isinstance(value, list):
        return tuple(value)
    return value


def _unknown_setting(name: str, known: Iterable[str]) -> str:
    """What to say of a setting that does not exist."""
    from difflib import get_close_matches  # only for a mistake: it takes its time to import

    if close := get_close_matches(name, known, n=1):
        return f"unknown setting {name}; did you mean {close[0]}?"
    return f"unknown setting {name}; there are {', '.join(sorted(known))}"


def _parse(name: str, text: str, default: object) -> object:
    """Parse `text` as the type of `default`; a duration is given in minutes."""
    try:
        if isinstance(default, bool):
            return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[
                text.lower()
            ]
        if isinstance(default, timedelta):
            return timedelta(minutes=float(text))
        if isinstance(default, tuple):
            return tuple(part.strip() for part in text.split(",") if part.strip())
        if name == "OMOIDE_DB":
            return database(text)
        if isinstance(default, Path):
            return Path(text).expanduser()
        if isinstance(default, int | float):
            return type(default)(text)
    except (KeyError, ValueError, OverflowError) as error:
        kinds = {bool: "true or false", int: "a whole number", timedelta: "a number of minutes"}
        raise BadInput(
            f"{name} must be {kinds.get(type(default), 'a number')}, not {text!r}"
        ) from error
    return text
