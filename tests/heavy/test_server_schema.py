"""The OpenAPI document is true: schemathesis finds nothing that contradicts it."""

from __future__ import annotations

import asyncio
import re
import sys
from collections import deque
from importlib.util import find_spec
from typing import TYPE_CHECKING

import httpx
import pytest

from omoide.server.options import Options
from omoide.server.routes import ROUTES, document
from omoide.server.shapes import SHAPES
from tests.server.serving import M1, listening, serving

if TYPE_CHECKING:
    from pathlib import Path

    from omoide.testing import Answer


class Endless(deque["Answer"]):
    """Answers that never run out."""

    def __bool__(self) -> bool:
        return True

    def popleft(self) -> Answer:
        """The same again."""
        return M1


CONVERTED = (
    "^/(v1/(responses|conversations|completions|messages)"
    "|api/(chat|generate|embed|context|exchanges|import|restore|events/calibrate))"
)
"""Routes of vendors' protocols and files. What can be made a chat of is for the converters to say,
not for a schema (`tests/server/test_server_protocols.py` asks them), and a calibration needs
events: these may refuse what the document allows. All else is checked of them too."""
LATIN = ("--generation-codec", "latin-1")
ANY = ("--exclude-checks", "positive_data_acceptance")


@pytest.mark.skipif(find_spec("schemathesis") is None, reason="schemathesis is not installed")
@pytest.mark.parametrize(
    "limits",
    [
        # Whether a character can be printed is Unicode's to say, not a pattern's: so that what
        # the document calls valid is accepted is only asked of Latin-1.
        (*LATIN, "--exclude-path-regex", CONVERTED),
        (*LATIN, *ANY, "--include-path-regex", CONVERTED),
        (*ANY, "--phases", "fuzzing"),
    ],
    ids=["latin", "converted", "unicode"],
)
async def test_schemathesis_finds_no_failure(tmp_path: Path, limits: tuple[str, ...]) -> None:
    """Bounded examples over every route, good and bad, with a key that may do all of it."""
    options = Options(default_user="me", rate=0, max_body=1_000_000)
    async with serving(tmp_path, options=options) as bench, listening(bench.app) as url:
        bench.replier.answers = bench.iterator.answers = Endless()
        key = bench.key()["Authorization"]
        async with httpx.AsyncClient(headers={"Authorization": key}, timeout=300) as client:
            assert (await client.get(f"{url}/api/users")).status_code == 200
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{url}/openapi.json"),
            *("--header", f"Authorization: {key}", "--checks", "all", "--max-examples", "4"),
            *("--generation-deterministic", "--no-color", *limits),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=tmp_path,
        )
        output = (await process.communicate())[0].decode()
    assert process.returncode == 0, output
    assert "returned only 401" not in output  # else it has tested nothing
    converted = [row for row in ROUTES if re.match(CONVERTED, row.path)]
    others = len(ROUTES) - len(converted) - 1  # the document itself is not tested
    tested = {LATIN[0]: others, ANY[0]: others + len(converted)}[limits[0]]
    tested = len(converted) if "--include-path-regex" in limits else tested
    assert f"Tested: {tested}" in output


def test_the_document_holds_every_route_and_no_loose_end() -> None:
    """Each shape that is named exists, and each that exists is named."""
    paths = document()["paths"]
    listed = {(method.upper(), path) for path, rows in paths.items() for method in rows}
    assert listed == {(row.method, row.path) for row in ROUTES}
    named = set()

    def walk(value: object) -> None:
        if isinstance(value, dict):
            if isinstance(reference := value.get("$ref"), str):
                named.add(reference.rpartition("/")[2])
            for item in value.values():
                walk(item)
        elif isinstance(value, list | tuple):
            for item in value:
                walk(item)

    walk(document())
    assert named == SHAPES.keys()
    names = [row["operationId"] for rows in paths.values() for row in rows.values()]
    assert len(set(names)) == len(names)
