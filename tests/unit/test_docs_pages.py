"""The pages under docs/ agree with the repository."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from omoide.cli.conversation import HELP
from tests.unit.test_architecture import LAYERS

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ROOT / "docs/experiments"
DECISIONS = ROOT / "docs/decisions"
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if "docs/mechanisms/" not in path.as_posix()  # pieces that tools put together into one page
)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


@cache
def prose(page: Path) -> str:
    """The text of a page, code left out."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


@cache
def links(page: Path) -> list[tuple[str, str]]:
    """The files of this repository that a page links to, each with its anchor."""
    text = re.sub(r"`[^`\n]*`", "", prose(page))
    return [(to, anchor) for to, anchor in LINK.findall(text) if ":" not in to]


def targets(page: Path) -> list[str]:
    """The files that a page links to."""
    return [to for to, _ in links(page) if to]


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub and our site make them."""
    made: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        found.add(f"{name}-{made[name]}" if made[name] else name)
        made[name] += 1
    return frozenset(found)


def test_every_link_leads_to_a_file() -> None:
    """A page links only to files that exist."""
    missing = [
        (page, to) for page in PAGES for to in targets(page) if not (page.parent / to).exists()
    ]
    assert missing == []


def test_no_link_leaves_the_docs() -> None:
    """The site has nothing else: name other files of the repository as code."""
    docs = ROOT / "docs"
    outside = [
        (page, to)
        for page in PAGES
        if page.is_relative_to(docs)
        for to in targets(page)
        if not (page.parent / to).resolve().is_relative_to(docs)
    ]
    assert outside == []


def test_every_anchor_is_a_heading() -> None:
    """A link into a page leads to one of its headings."""
    missing = [
        (page, to, anchor)
        for page in PAGES
        for to, anchor in links(page)
        if anchor and (not to or to.endswith(".md"))
        if anchor not in anchors((page.parent / to).resolve() if to else page)
    ]
    assert missing == []


def test_the_site_has_every_page() -> None:
    """Each page is in the navigation, or is an entry of a list that is."""
    with (ROOT / "zensical.toml").open("rb") as file:
        shown = set(re.findall(r"'([^']+\.md)'", str(tomllib.load(file)["project"]["nav"])))
    docs = ROOT / "docs"
    pages = {p.relative_to(docs).as_posix() for p in PAGES if p.is_relative_to(docs)}
    listed = re.compile(r"(experiments|decisions|presets|results)/")
    assert {page for page in pages - shown if not listed.match(page)} == set()
    assert shown <= pages


def test_every_experiment_is_listed_newest_first() -> None:
    """The index names each experiment once, and no date comes after an older one."""
    listed = [
        link for link in targets(EXPERIMENTS / "README.md") if re.match(r"\d{4}-\d\d-\d\d-", link)
    ]
    files = {path.name for path in EXPERIMENTS.glob("[0-9]*.md")}
    assert sorted(listed) == sorted(files)
    dates = [name[:10] for name in listed]
    assert dates == sorted(dates, reverse=True)


def test_an_experiment_begins_with_its_date_and_verdict() -> None:
    """The third line is the date of the file's name and a verdict, the same as in the index."""
    index = (EXPERIMENTS / "README.md").read_text(encoding="utf-8")
    for entry in sorted(EXPERIMENTS.glob("[0-9]*.md")):
        line = entry.read_text(encoding="utf-8").split("\n")[2]
        found = re.fullmatch(r"(\d{4}-\d\d-\d\d)\. \*\*(.+)\*\*", line)
        assert found is not None, entry
        assert entry.name.startswith(found.group(1))
        assert f"({entry.name}): {found.group(2)}\n" in index


def test_the_list_shows_the_layers() -> None:
    """The list in docs/architecture.md names the packages of each layer, and no others."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^ ?(\d+)  ([\w, ]+)$", page, flags=re.MULTILINE)
    shown = {name: int(layer) for layer, names in rows for name in names.split(", ")}
    assert shown == LAYERS


@pytest.mark.parametrize(
    "page",
    [ROOT / "docs/architecture.md", *sorted(DECISIONS.glob("*.md"))],
    ids=lambda page: page.stem,
)
def test_files_and_functions_that_a_page_names_exist(page: Path) -> None:
    """Of the core or the repository: a file, and what it is said to define."""
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)(?:: (\w+)\(\))?`", text)
    missing = [(name, function) for name, function in named if not defines(name, function)]
    assert missing == []


def defines(name: str, function: str) -> bool:
    """Whether there is such a file, with that function if one is named."""
    wanted = f"def {function}(" if function else ""
    files = found_at(name, ROOT / "src/omoide")
    return any(wanted in file.read_text(encoding="utf-8") for file in files)


def found_at(name: str, core: Path) -> list[Path]:
    """Where a file is whose path ends so: within the core, or in the repository."""
    return [*core.rglob(name), *ROOT.glob(name)]


def test_the_figures_of_the_readme_are_on_the_pages_it_names() -> None:
    """Each number of a row is on the page that the row links to."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").split("## Three numbers", 1)[1]
    rows = re.findall(r"^\| (\*\*.+) \| \[.+\]\((.+)\) \|$", text, flags=re.MULTILINE)
    assert len(rows) == 3
    for said, page in rows:
        shown = (ROOT / page).read_text(encoding="utf-8")
        figures = re.findall(r"\d[\d.,]*(?: of \d+)?", said.replace("kill -9", ""))
        assert figures
        assert [f for f in figures if f.strip(".,") not in shown] == []


def test_no_kill_lost_or_doubled_anything() -> None:
    """What is said of losses, read from the table of the torture: every row, both stores."""
    page = (ROOT / "docs/torture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `kill -9`[^|]*\| (\d+) \|[^|]*\| (\d+) \| (\d+) \|", page, re.MULTILINE)
    assert len(rows) > 10
    assert {(lost, doubled) for _, lost, doubled in rows} == {("0", "0")}


def test_the_chat_guide_names_every_command() -> None:
    """Those that `/help` shows."""
    guide = (ROOT / "docs/guides/chat.md").read_text(encoding="utf-8")
    commands = re.findall(r"^/\w+", HELP, flags=re.MULTILINE)
    assert [command for command in commands if f"`{command}" not in guide] == []
    assert len(commands) > 5


def test_every_decision_is_listed() -> None:
    """The index of decisions names each of them, in order."""
    listed = [link for link in targets(DECISIONS / "README.md") if link[0].isdigit()]
    assert listed == sorted(path.name for path in DECISIONS.glob("[0-9]*.md"))


@pytest.mark.parametrize(
    "decision", sorted(DECISIONS.glob("[0-9]*.md")), ids=lambda decision: decision.stem
)
def test_a_decision_has_its_three_parts(decision: Path) -> None:
    """Context, decision and consequences, in this order and nothing else."""
    heads = re.findall(r"^## (.+)$", decision.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert heads == ["Context", "Decision", "Consequences"]


def test_the_changelog_has_no_line_twice() -> None:
    """Each change is told once, under a heading of Keep a Changelog."""
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    changes = [line for line in lines if line.startswith("- ")]
    assert len(changes) == len(set(changes))
    kinds = {line.removeprefix("### ") for line in lines if line.startswith("### ")}
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_tests_of_every_finding_exist() -> None:
    """A finding of the hostile tester names the tests that hold it, by name and file."""
    page = ROOT / "docs/results/hostile-tester.md"
    findings = [
        line for line in page.read_text("utf-8").splitlines() if re.match(r"\| [HML]\d", line)
    ]
    files = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "src/omoide/testing").rglob("*.py")]
    source = "\n".join(file.read_text("utf-8") for file in files)
    assert len(findings) == 22 + 13
    for finding in findings:
        named = re.findall(r"`(test_\w+)`", finding.split("|")[4])
        assert named, finding
        missing = [name for name in named if f"def {name}(" not in source]
        assert not missing, finding
        assert all((ROOT / path).exists() for path in re.findall(r"`(tests/[\w/.]+)`", finding))
