"""Every plug-in of docs/extending.md is taken out of the page, installed, and run.

What installs and runs them takes a minute of CPU, so `make test-all` does it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "extending.md"
LONGEST = 60
"""Lines of code of one plug-in, without blank lines."""
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Example:
    """One section of the page."""

    files: dict[str, str] = field(default_factory=dict)
    commands: str = ""

    @property
    def code(self) -> list[str]:
        """The lines of its modules that are not blank."""
        modules = [
            text
            for name, text in self.files.items()
            if name.endswith(".py") and not name.startswith("test_")
        ]
        return [line for text in modules for line in text.splitlines() if line.strip()]


def examples() -> dict[str, Example]:
    """The sections that hold a package, by heading."""
    found = {}
    for section in re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        heading, _, text = section.partition("\n")
        example = Example()
        for language, block in _BLOCK.findall(text):
            if language == "sh":
                example.commands += block
            else:
                first, _, rest = block.partition("\n")
                example.files[first.removeprefix("# ")] = rest
        found[heading] = example
    return found


EXAMPLES = examples()
TESTED = [name for name, e in EXAMPLES.items() if any(f.startswith("test_") for f in e.files)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all of them installed, as pip does it from their `pyproject.toml`."""
    sources = tmp_path_factory.mktemp("sources")
    target = tmp_path_factory.mktemp("site")
    folders = []
    for number, example in enumerate(EXAMPLES.values()):
        folder = sources / str(number)
        for name, text in example.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        folders.append(folder)
    install = "pip install --quiet --no-index --no-deps --no-build-isolation --target".split()
    subprocess.run(
        [sys.executable, "-m", *install, target, *folders],
        check=True,
        capture_output=True,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    return target


def environment(site: Path, home: Path) -> dict[str, str]:
    """A user with the plug-ins, a home of their own, and a model that is a plug-in too."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OMOIDE_")}
    path = os.pathsep.join([str(site), *filter(None, [kept.get("PYTHONPATH")])])
    programs = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    return {
        **kept,
        "PYTHONPATH": path,
        "PATH": programs,
        "HOME": str(home),
        "OMOIDE_MODEL": "parrot:",
        "OMOIDE_PROFILE": "large",
        "OMOIDE_EMBEDDER": "none",
    }


def run(site: Path, home: Path, commands: str) -> str:
    """What the commands of a section print; they must succeed."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=home,
        env=environment(site, home),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_the_page_has_every_kind() -> None:
    """A whole package of each, with how to try it."""
    groups = re.findall(r'entry-points\."(omoide\.\w+)"', PAGE.read_text("utf-8"))
    assert set(groups) == {
        "omoide.benchmarks",
        "omoide.commands",
        "omoide.embedders",
        "omoide.mechanisms",
        "omoide.models",
        "omoide.stores",
        "omoide.vectors",
    }
    for heading, example in EXAMPLES.items():
        assert "pyproject.toml" in example.files, heading
        assert example.commands, heading


@pytest.mark.parametrize("heading", EXAMPLES)
def test_each_is_short(heading: str) -> None:
    """At most 60 lines of code."""
    assert len(EXAMPLES[heading].code) <= LONGEST


@pytest.mark.heavy
@pytest.mark.parametrize("heading", TESTED)
def test_each_passes_the_shipped_contract(heading: str, site: Path, tmp_path: Path) -> None:
    """Its own test file, run as its author would: by pytest alone, without our settings."""
    example = EXAMPLES[heading]
    names = [name for name in example.files if name.startswith("test_")]
    for name in names:
        (tmp_path / name).write_text(example.files[name], "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *names],
        cwd=tmp_path,
        env=environment(site, tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert re.search(r"\d+ passed", done.stdout)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        ("A mechanism", ["how each session began", "the user began: I adopted a cat called Miso."]),
        ("Prompts of your own", ["Earlier talks: You give talks a title"]),
        ("A chat model", ["Polly wants a cracker."]),
        ("An embedder", ["I adopted a cat called Miso."]),
        ("A store", ["I adopted a cat called Miso."]),
        ("A vector index", ["I adopted a cat called Miso."]),
        ("A command", ["user: 1\nassistant: 1\n", "user: 6\n"]),
        ("A benchmark task", ["whether the name of a pet is found again"]),
    ],
)
def test_each_does_its_part(heading: str, shown: list[str], site: Path, tmp_path: Path) -> None:
    """The commands under it run as they stand, and show what it did."""
    printed = run(site, tmp_path, EXAMPLES[heading].commands)
    for text in shown:
        assert text in printed
    if heading == "A store":
        assert [path.suffix for path in (tmp_path / "here").glob("*.doc")]
        assert not (tmp_path / ".local/share/omoide/memory.sqlite").exists()
    if heading == "A vector index":
        assert list((tmp_path / "vectors").rglob("*.npz"))
    if heading == "A benchmark task":
        [method] = json.loads((tmp_path / "pets.json").read_text())["methods"]
        assert [item["scores"] for item in method["items"]] == [{"found": 1.0}] * 3


def test_the_table_of_the_page_links_every_section() -> None:
    """What is described can be found from the table at the top."""
    page = PAGE.read_text("utf-8")
    for heading in EXAMPLES:
        assert f"](#{heading.lower().replace(' ', '-')})" in page
