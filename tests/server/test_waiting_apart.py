"""Words that wait: none hold up those of others, none outlive an erasure, and each finds its own
database and its place in the order, whichever process keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.engine import recorder
from omoide.engine.messages import Utterance, incoming

from .serving import serving
from .test_waiting import PATIENT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

HI = {"role": "user", "content": "Hi there"}


async def test_a_chat_of_any_length_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In several calls if one would take too many turns; once, also if it is sent again."""
    monkeypatch.setattr(recorder, "MAX_TURNS", 3)
    async with serving(tmp_path, options=PATIENT) as bench:
        for _ in range(2):
            answered = await bench.chat(*"abcdefgh")
            assert answered.headers["x-omoide-stored"] == "yes"
            assert answered.headers["x-omoide-status"] == "ok"
        assert await bench.said() == [*"abcdefgh", "I see."]


async def test_an_id_that_another_text_has_does_not_refuse_a_chat(tmp_path: Path) -> None:
    """The message gets another one, the same whenever it is sent again."""
    async with serving(tmp_path, options=PATIENT) as bench:
        sent = [{"role": "user", "content": "Hm"}, {"role": "assistant", "content": "Yes?"}, HI]
        taken = incoming(sent, session=None).words[0].id
        other = Utterance(speaker=Speaker.USER, text="Other text", id=taken)
        await bench.memory().record("ana", [other])
        for _ in range(2):
            answered = await bench.chat(*sent)
            assert answered.headers["x-omoide-stored"] == "yes"
        assert await bench.said() == ["Other text", "Hi there", "I see."]
