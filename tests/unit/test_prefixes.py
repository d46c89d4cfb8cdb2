"""States of fixed prefixes on disk, and requests that somebody waits for."""

from __future__ import annotations

import asyncio
import os
import stat
from typing import TYPE_CHECKING

import pytest

from omoide.adapters.models.adapter import Adapter
from omoide.adapters.models.precedence import PATIENCE, Precedence
from omoide.adapters.models.prefixes import PrefixKey, PrefixReader, PrefixStates, prefix_states
from omoide.errors import ModelUnavailable
from omoide.settings import Settings

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

LONG = "Worked examples. " * 40


class Runtime:
    """Stands in for llama.cpp: one slot, whose state is the text it has read."""

    runtime = "fake 1"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.read_texts: list[str] = []
        self.slot = ""
        self.restores = True

    def beginning(self, messages: Sequence[Mapping[str, str]], text: str = "") -> str:
        """The contents, joined."""
        return "".join(m["content"] for m in messages) + text

    def read(self, text: str, body: Mapping[str, object], stopped: Callable[[], bool]) -> None:
        """Read it."""
        assert body["id_slot"] == 1
        self.read_texts.append(text)
        self.slot = text

    def save(self, slot: int, name: str) -> bool:
        """Write the slot to a file that anybody may read, as llama.cpp does."""
        assert slot == 1
        (self.folder / name).write_text(self.slot)
        return True

    def restore(self, slot: int, name: str) -> bool:
        """Read it back."""
        assert slot == 1
        self.slot = (self.folder / name).read_text()
        return self.restores


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the states go."""
    return tmp_path / "prompts"


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A model file."""
    path = tmp_path / "model.gguf"
    path.write_bytes(b"weights")
    return path


def begin(
    folder: Path,
    weights: Path,
    *,
    text: str = LONG,
    today: str = "",
    adapter: Adapter | None = None,
    limit: int = 0,
) -> Runtime:
    """A new process answers a request that begins with `text`, and goes on with `today`."""
    states = PrefixStates(folder, limit=limit or 1_000_000)
    assert states.open()
    model = Runtime(folder)
    body: dict[str, object] = {"id_slot": 1}
    if adapter is not None:
        body["lora"] = []
    PrefixReader(states, weights=weights).begin(
        model,
        body,
        [text, text + today] if today else [text],
        adapter=adapter,
        stopped=lambda: False,
    )
    assert model.slot == text + today
    return model


def state_files(folder: Path) -> list[Path]:
    """The states that are kept."""
    return sorted(folder.glob("*.state"))


def test_the_second_process_reads_nothing(folder: Path, weights: Path) -> None:
    """The first reads the text and keeps the state, privately; the second restores it."""
    assert begin(folder, weights).read_texts == [LONG]
    assert begin(folder, weights).read_texts == []
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) for p in folder.iterdir()} == {0o600}
    assert len(list(folder.iterdir())) == 2


def test_what_is_the_same_for_some_hours_is_kept_too(folder: Path, weights: Path) -> None:
    """The first process of a day reads the date after the state of what never changes; the next
    one reads nothing."""
    assert begin(folder, weights, today="Monday.").read_texts == [LONG, LONG + "Monday."]
    assert begin(folder, weights, today="Monday.").read_texts == []
    assert begin(folder, weights, today="Tuesday.").read_texts == [LONG + "Tuesday."]
    assert len(state_files(folder)) == 3


def test_a_slot_takes_on_the_adapter_before_its_state(folder: Path, weights: Path) -> None:
    """llama.cpp drops the state of a slot whose adapter changes, so a short text comes first."""
    adapter = Adapter(name="a", path=weights, strength=0.5)
    assert begin(folder, weights, adapter=adapter).read_texts == [LONG]
    assert begin(folder, weights, adapter=adapter).read_texts == [" "]


def test_another_text_file_or_strength_has_another_state(folder: Path, weights: Path) -> None:
    """A state is used only for what it was computed from."""
    begin(folder, weights)
    adapter = Adapter(name="a", path=weights, strength=0.5)
    assert LONG in begin(folder, weights, adapter=adapter).read_texts
    stronger = Adapter(name="a", path=weights, strength=1.0)
    assert LONG in begin(folder, weights, adapter=stronger).read_texts
    assert begin(folder, weights, text=LONG + "!").read_texts == [LONG + "!"]
    weights.write_bytes(b"other weights")
    assert begin(folder, weights).read_texts == [LONG]
    assert len(state_files(folder)) == 5


@pytest.mark.parametrize("damage", ["flipped", "cut", "unsealed", "open", "linked", "refused"])
def test_a_damaged_or_foreign_state_is_ignored(folder: Path, weights: Path, damage: str) -> None:
    """It is computed again, and the bad one replaced."""
    begin(folder, weights)
    (path,) = state_files(folder)
    content = path.read_bytes()
    if damage == "flipped":
        path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    elif damage == "cut":
        path.write_bytes(content[:10])
    elif damage == "unsealed":
        path.with_suffix(".sha256").unlink()
    elif damage == "open":
        path.chmod(0o644)
    elif damage == "linked":
        elsewhere = folder.parent / "elsewhere"
        path.rename(elsewhere)
        path.symlink_to(elsewhere)
    else:
        states = PrefixStates(folder, limit=10**6)
        model = Runtime(folder)
        model.restores = False
        PrefixReader(states, weights=weights).begin(
            model,
            {"id_slot": 1},
            [LONG],
            adapter=None,
            stopped=lambda: False,
        )
        assert model.read_texts == [LONG]
        return
    assert begin(folder, weights).read_texts == [LONG]
    assert begin(folder, weights).read_texts == []


def test_a_folder_that_others_can_write_is_not_used(folder: Path, weights: Path) -> None:
    """Nor one that cannot be made."""
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    assert not PrefixStates(folder, limit=1).open()
    assert not PrefixStates(weights / "below", limit=1).open()


def test_the_folder_stays_within_its_limit(folder: Path, weights: Path) -> None:
    """The longest unused state goes first; one that is too large is not kept at all."""
    texts = [f"{i}{LONG}" for i in range(3)]
    for i, text in enumerate(texts):
        begin(folder, weights, text=text, limit=2 * len(texts[0]))
        for path in state_files(folder):
            os.utime(path, (i, i))
    assert len(state_files(folder)) == 2
    begin(folder, weights, text=LONG * 9, limit=100)
    assert len(state_files(folder)) <= 2


def test_a_stopped_reading_keeps_nothing(folder: Path, weights: Path) -> None:
    """A half-read text has no state worth keeping; a short text none either."""
    states = PrefixStates(folder, limit=10**6)
    assert states.open()
    reader, model = PrefixReader(states, weights=weights), Runtime(folder)
    for text, stopped in ((LONG, True), ("short", False)):
        reader.begin(
            model,
            {"id_slot": 1},
            [text],
            adapter=None,
            stopped=lambda stopped=stopped: stopped,  # type: ignore[misc]
        )
    assert not state_files(folder)


def test_the_settings_bound_the_states(tmp_path: Path) -> None:
    """Zero turns them off."""
    assert prefix_states(Settings(weights_dir=tmp_path, prompt_cache=0)) is None
    states = prefix_states(Settings(weights_dir=tmp_path))
    assert states is not None
    assert states.folder == tmp_path / "prompts"


def test_a_key_names_no_words(weights: Path) -> None:
    """The file name tells nothing of the text."""
    key = PrefixKey(weights=weights, runtime="r", adapter=None, strength=0.0, text="secret")
    assert "secret" not in key.name
    assert len(key.name) == 32


# ── Precedence ──────────────────────────────────────────────────────────────────────────────


async def test_a_background_request_yields_and_begins_again() -> None:
    """It is stopped when somebody waits, runs again afterwards, and its answer comes whole."""
    precedence = Precedence()
    begun, may_end = asyncio.Event(), asyncio.Event()
    tries: list[threading.Event] = []

    async def run(stop: threading.Event) -> str:
        tries.append(stop)
        begun.set()
        if len(tries) == 1:
            await may_end.wait()  # as a thread that notices the stop between two tokens
            assert stop.is_set()
            raise ModelUnavailable("stopped")
        return "notes"

    digest = asyncio.ensure_future(precedence.in_background(run))
    await begun.wait()
    with precedence.foreground(), precedence.foreground():
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(tries) == 1
    may_end.set()  # only after the reply: it is begun again all the same
    assert await digest == "notes"
    assert len(tries) == 2


async def test_a_background_request_does_not_yield_for_ever() -> None:
    """Where somebody always waits, it runs to its end after a while."""
    precedence = Precedence()
    tries = 0

    async def run(stop: threading.Event) -> str:
        nonlocal tries
        tries += 1
        with precedence.foreground():
            if stop.is_set():
                raise ModelUnavailable("stopped")
        return "notes"

    assert await precedence.in_background(run) == "notes"
    assert tries == PATIENCE + 1


async def test_a_failure_in_the_background_is_raised() -> None:
    """Only a stop is tried again."""

    async def run(stop: threading.Event) -> str:
        stop.set()  # as a broken-off answer does
        raise ModelUnavailable("no weights")

    with pytest.raises(ModelUnavailable, match="no weights"):
        await Precedence().in_background(run)
