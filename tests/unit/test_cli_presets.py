"""`--as NAME` with every command, and a preset in the library."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

import omoide
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.cli.main import cli
from omoide.cli.scope import Outside
from omoide.engine.runtime import Runtime
from omoide.presets import PRESETS
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from omoide.ports import Progress
    from omoide.settings import Settings


@dataclass
class Terminal:
    """The command with scripted models, which remembers the settings it was opened with."""

    model: ScriptedModel = field(default_factory=ScriptedModel)
    opened: list[Settings] = field(default_factory=list)

    async def open(
        self, settings: Settings, *, create: bool = True, progress: Progress | None = None
    ) -> Runtime:
        """An `Opener`, over a database in memory."""
        del create, progress
        self.opened.append(settings)
        store = await SqliteStore.open(":memory:")
        return Runtime(
            settings,
            store=store,
            clock=FrozenClock(),
            model=self.model,
            embedder=HashEmbedder(),
            owns=[store],
        )

    def run(self, *args: str, **env: str) -> Result:
        """Run `omoide` with these arguments and variables."""
        outside = Outside(open=self.open, clock=FrozenClock())
        return CliRunner().invoke(cli, args, obj=outside, env=env)


def commands(group: click.Group, *before: str) -> list[tuple[str, ...]]:
    """The names of all commands, those of groups with the group's."""
    found: list[tuple[str, ...]] = []
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found += commands(command, *before, name)
        else:
            found.append((*before, name))
    return found


def test_chat_runs_as_a_paper() -> None:
    """The prompt is the paper's, whether the option stands before or after the command."""
    for args in (("--as", "wang2023", "chat"), ("chat", "--as", "wang2023")):
        terminal = Terminal()
        terminal.model.answers.append("Hello!")
        result = terminal.run(*args, "--say", "Hi there.")
        assert result.exit_code == 0, result.output
        (request,) = terminal.model.requests
        assert "Weigh how relevant and how important each trait is" in request.messages[0].content
        assert [settings.preset for settings in terminal.opened] == ["wang2023"]


def test_the_option_counts_more_than_the_variable_and_less_than_a_setting() -> None:
    """OMOIDE_PRESET names the preset without --as; OMOIDE_REPLY_FORM changes one value of it."""
    for args, wanted in ((("--as", "wang2023"), "wang2023"), ((), "memochat")):
        terminal = Terminal()
        terminal.model.answers.append("Hello!")
        env = {"OMOIDE_PRESET": "memochat", "OMOIDE_REPLY_FORM": "agent"}
        result = terminal.run("chat", *args, "--say", "Hi there.", **env)
        assert result.exit_code == 0, result.output
        (settings,) = terminal.opened
        assert (settings.preset, settings.reply_form) == (wanted, "agent")


@pytest.mark.parametrize("name", commands(cli), ids=" ".join)
def test_every_command_that_takes_settings_takes_a_preset(name: tuple[str, ...]) -> None:
    """Its help shows --as beside --db."""
    shown = CliRunner().invoke(cli, [*name, "--help"]).output
    assert ("--as [omoide|wang2023" in shown) == ("--db" in shown)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_described(name: str) -> None:
    """Paper, mechanisms, prompts, numbers and every departure with its reason."""
    preset = PRESETS[name]
    shown = Terminal().run("mechanisms", "--as", name).output
    for wanted in (preset.paper, preset.about, *preset.prompts, *preset.variables):
        assert wanted in shown
    for number in preset.numbers:
        assert f"{number.what}: {number.value}" in shown
    for departure in preset.departures:
        assert departure.what in shown
        assert departure.why in shown
    data = json.loads(Terminal().run("mechanisms", "--as", name, "--json").stdout)
    assert (data["name"], data["overridden"]) == (name, {})
    assert len(data["departures"]) == len(preset.departures)


def test_what_was_changed_beside_a_preset_is_shown() -> None:
    """So that nobody takes it for the paper's."""
    env = {"OMOIDE_EVENT_ITEMS": "3"}
    shown = Terminal().run("mechanisms", "--as", "hou2024", **env).output
    assert "OMOIDE_EVENT_ITEMS=1  (here 3)" in shown
    data = json.loads(Terminal().run("mechanisms", "--as", "hou2024", "--json", **env).stdout)
    assert data["overridden"] == {"event_items": 3}


def test_the_list_says_which_preset_is_on() -> None:
    """With the names of all."""
    shown = Terminal().run("mechanisms", OMOIDE_PRESET="hou2024").output
    assert "preset: hou2024; choose with --as or OMOIDE_PRESET from omoide, wang2023" in shown
    assert "* human-recall" in shown


def test_an_unknown_preset_is_refused() -> None:
    """As an option and as a variable, with the names that there are."""
    assert "'wang2024' is not one of 'omoide'" in Terminal().run("chat", "--as", "wang2024").output
    refused = Terminal().run("chat", "--say", "Hi", OMOIDE_PRESET="wang2024")
    assert refused.exit_code == 1
    assert "no preset 'wang2024'; choose from omoide" in refused.output


def test_the_library_opens_as_a_paper(tmp_path: Path) -> None:
    """By the same name, with other settings beside it."""
    model = ScriptedModel(["Hello!"])
    with omoide.open(
        preset="hou2024", db=tmp_path / "m.sqlite", model=model, embedder="none", event_items=2
    ) as memory:
        assert (memory.about.preset, memory.about.mechanisms) == ("hou2024", ("human-recall",))
        assert "".join(memory.reply("ana", "Hi there.")) == "Hello!"
    assert "You are aware of time" in model.requests[0].messages[0].content
