"""`omoide bench`, abstention and the charts."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from omoide.charts import Chart, Series
from omoide.cli.main import cli
from omoide.settings import Settings
from omoide_bench.abstention import JudgedQuestion, auc, refusals
from omoide_bench.cli.redteam import poisoned
from tests.bench.test_evals import data

__all__ = ["data"]


def test_bench_evidence(data: Path, tmp_path: Path) -> None:
    """The command prints a table, and writes what the result depends on beside it."""
    out, plot = tmp_path / "result.json", tmp_path / "plot.svg"
    command = ["bench", "evidence", "--data", str(data), "--embedder", "none", "--ablate"]
    mine = tmp_path / "mine.sqlite"
    done = CliRunner().invoke(
        cli, [*command, "--out", str(out), "--plot", str(plot)], env={"OMOIDE_DB": str(mine)}
    )
    assert done.exit_code == 0, done.output
    assert not mine.exists()  # a benchmark records nothing into the user's database
    assert "100.0 [100.0, 100.0]" in done.output
    assert "without words" in done.output
    result = json.loads(out.read_text())
    assert result["embedder"] == "none"
    assert len(result["data"]["locomo10.json.gz"]) == 64
    assert result["versions"].keys() >= {"omoide", "numpy", "apsw"}
    assert {line["ranker"] for line in result["lines"]} >= {"BM25", "rank fusion", "recall"}
    assert len(result["questions"]) == 2 * 17
    assert ET.fromstring(plot.read_text()).tag.endswith("svg")  # noqa: S314 - our own text


def test_the_red_team_stays_out_of_the_users_database(tmp_path: Path) -> None:
    """Attacks are planted in a memory of their own."""
    settings = poisoned(Settings(db=tmp_path / "mine.sqlite"), tokens=40)
    assert settings.db == Path(":memory:")


def test_bench_abstention(data: Path, tmp_path: Path) -> None:
    """The command tells precision and recall of refusing."""
    command = ["bench", "abstention", "--data", str(data), "--embedder", "none", "--json"]
    mine = tmp_path / "mine.sqlite"
    done = CliRunner().invoke(cli, command, env={"OMOIDE_DB": str(mine)})
    assert not mine.exists()
    assert done.exit_code == 0, done.output
    assert len(json.loads(done.stdout)["refusals"]) == 6


def test_bench_without_data(tmp_path: Path) -> None:
    """A folder without the data is an error that says what is missing."""
    done = CliRunner().invoke(cli, ["bench", "evidence", "--data", str(tmp_path)])
    assert done.exit_code == 1
    assert "locomo10.json" in done.output


def test_refusals() -> None:
    """Precision, recall and wrong refusals are of the held-out half."""
    judged = [
        JudgedQuestion(sort=sort, held_out=held_out, known=known, mismatch=0)
        for sort, held_out, known in (
            ("answerable", True, 0.9),
            ("answerable", True, 0.3),
            ("foreign", True, 0.1),
            ("foreign", True, 0.6),
            ("foreign", False, 0.1),
            ("category 5", True, 0.1),
        )
    ]
    at = {refusal.cut: refusal for refusal in refusals(judged, "foreign")}
    assert (at[0.35].precision, at[0.35].recall, at[0.35].refused) == (0.5, 0.5, 0.5)
    assert (at[0.2].precision, at[0.2].recall, at[0.2].refused) == (1, 0.5, 0)
    assert at[0.2].base_rate == 0.5
    assert auc([2, 3], [1, 2]) == pytest.approx(0.875)


@pytest.mark.parametrize("log_y", [True, False])
def test_chart(log_y: bool) -> None:
    """A chart is well-formed, names its lines, and keeps every point inside."""
    lines = [
        Series(name="a < b", points=((5, 12.5), (50, 93.3)), low=(10.0, 90.0), high=(15.0, 95.0)),
        Series(name="c", points=((5, 0.9), (50, 93.0))),
    ]
    svg = Chart(title="T & t", x="k", y="%", series=lines, log_y=log_y).svg()
    root = ET.fromstring(svg)  # noqa: S314 - our own text
    assert {"a < b", "c", "T & t"} <= {e.text for e in root.iter() if e.text}
    dots = [e for e in root.iter() if e.tag.endswith("circle")]
    assert len(dots) == 4
    assert all(0 < float(e.attrib["cx"]) < 640 and 0 < float(e.attrib["cy"]) < 400 for e in dots)
