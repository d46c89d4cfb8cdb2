"""The Python of the README runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import omoide
from omoide.testing import FrozenClock, ScriptedModel

README = Path(__file__).parents[2] / "README.md"
SNIPPETS = [
    code
    for code in re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    if "omoide.open" in code
]


def test_there_are_snippets() -> None:
    """One with our model, one with the caller's."""
    assert len(SNIPPETS) == 2


@pytest.mark.parametrize("code", SNIPPETS)
def test_a_snippet_runs(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a scripted model in the place of the default, and a database of its own."""
    opening = omoide.open
    model = ScriptedModel(["Hello Ana! What a lovely name.", "User has a cat called Miso."])

    def opened(**given: Any) -> omoide.SyncMemory:  # noqa: ANN401 - as the snippet gives it
        usual: dict[str, Any] = {
            "db": tmp_path / "m.sqlite",
            "model": model,
            "embedder": "none",
            "clock": FrozenClock(),
            "background": False,
        }
        return opening(**{**usual, **given})

    monkeypatch.setattr(omoide, "open", opened)
    exec(code, {"omoide": omoide, "ask_your_model": lambda messages: f"{len(messages)} messages"})  # noqa: S102 - ours
    shown = capsys.readouterr().out
    if "reply(" in code:
        assert "Hello Ana!" in shown
        assert "User has a cat called Miso." in shown
        assert "Hi! I adopted a cat called Miso." in shown
