"""Adapters that come with omoide: found for their weights, refused when damaged, put there."""

from __future__ import annotations

import json
import logging
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from omoide import bootstrap
from omoide.adapters.models.adapter import Adapter, adapter_for
from omoide.adapters.models.catalogue import CATALOGUE, CatalogueModel, GgufFile, resolve
from omoide.adapters.models.file_hashes import file_stamp
from omoide.adapters.models.shipped_adapters import (
    TUNED,
    adapters_for,
    digest,
    read_manifest,
    write_manifest,
)
from omoide.adapters.models.slots import Slots
from omoide.cli.main import cli
from omoide.errors import BadInput
from omoide.ports import Request, Skill
from omoide.settings import Settings
from omoide_tune.examples import TASKS
from omoide_tune.formats.shipping import MAX_SHIPPED_BYTES, Shipment, ship
from tests.adapters import base_file, peft_folder
from tests.tiny import tiny_model

TINY = resolve("tiny")
assert isinstance(TINY, CatalogueModel)
CARD = {"shippable": True, "sources": {"own": "Apache-2.0"}, "learnt": 3}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one shipped adapter, and `run`, `card.json` and `base.gguf`, of which it was
    made."""
    folder = tmp_path_factory.mktemp("shipped")
    peft_folder(folder / "run" / "best")
    (folder / "run" / "run.json").write_text(json.dumps({"recipe": {"rank": 8}}))
    (folder / "card.json").write_text(json.dumps(CARD))
    ship(shipment(folder), base=base_file(folder / "base.gguf"), folder=folder / "tuned")
    return folder


def shipment(
    folder: Path, name: str = "notes-r8", skills: tuple[Skill, ...] = (Skill.NOTES, Skill.MEMOS)
) -> Shipment:
    """What `made` ships."""
    assert isinstance(TINY, CatalogueModel)
    return Shipment(
        run=folder / "run", name=name, skills=skills, weights=TINY, data=folder / "card.json"
    )


@pytest.fixture
def tuned(made: Path, tmp_path: Path) -> Path:
    """A copy of the folder, to do harm to."""
    shutil.copytree(made / "tuned", tmp_path / "tuned")
    return tmp_path / "tuned"


def names(
    choice: CatalogueModel | GgufFile, folder: Path, *, stamps: Path, wanted: str = ""
) -> list[str]:
    """What the adapters of a model are called."""
    found = adapters_for(choice, wanted=wanted, stamps=stamps, folder=folder)
    return [adapter.name for adapter in found]


def test_a_whole_adapter_is_used_for_its_weights_alone(tuned: Path, tmp_path: Path) -> None:
    """For the model of the catalogue and for the same file elsewhere; not for other weights."""
    stamps = tmp_path / "stamps"
    (adapter,) = adapters_for(TINY, wanted="", stamps=stamps, folder=tuned)  # type: ignore[arg-type]
    assert adapter.skills == frozenset({Skill.NOTES, Skill.MEMOS})
    assert adapter.serves(Skill.NOTES)
    assert not adapter.serves(Skill.REPLY)
    assert not adapter.serves(None)
    assert names(GgufFile(path=tiny_model()), tuned, stamps=stamps) == ["notes-r8"]
    assert all(not names(w, tuned, stamps=stamps) for w in CATALOGUE if w is not TINY)
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF" * 4)
    assert names(GgufFile(path=other), tuned, stamps=stamps) == []


def test_none_turns_it_off_and_a_path_takes_its_place(tuned: Path, tmp_path: Path) -> None:
    """`OMOIDE_ADAPTER`: none; or a file, for all requests, whose name tells two versions apart."""
    assert isinstance(TINY, CatalogueModel)
    assert names(TINY, tuned, stamps=tmp_path, wanted="None") == []
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"one")
    (first,) = adapters_for(TINY, wanted=str(mine), stamps=tmp_path / "stamps", folder=tuned)
    mine.write_bytes(b"another")
    (second,) = adapters_for(TINY, wanted=str(mine), stamps=tmp_path / "stamps", folder=tuned)
    assert first.name.startswith("mine@")
    assert first.name != second.name
    assert first.serves(None)
    (absent,) = adapters_for(TINY, wanted=str(tmp_path / "absent.gguf"), stamps=tmp_path)
    assert absent.name == "absent"


@pytest.mark.parametrize("harm", ["changed", "gone"])
def test_a_damaged_file_is_told_and_left_out(
    harm: str, tuned: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The bare model is used, and the warning says which file, what for and what to do."""
    assert isinstance(TINY, CatalogueModel)
    path = tuned / read_manifest(tuned)[0].file
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    with caplog.at_level(logging.WARNING):
        assert names(TINY, tuned, stamps=tmp_path / "stamps") == []
    assert str(path) in caplog.text
    assert "notes, memos" in caplog.text
    assert "OMOIDE_ADAPTER=none" in caplog.text


def test_a_manifest_that_is_none_is_told_too(
    tuned: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A broken file, a skill that is no word, a path out of the folder; no manifest is no
    trouble."""
    assert isinstance(TINY, CatalogueModel)
    whole = json.loads((tuned / "manifest.json").read_text())
    for name, value in (("skills", ["Juggling!"]), ("file", "../x.gguf"), ("sha256", None)):
        broken = {"adapters": [{**whole["adapters"][0], name: value}]}
        (tuned / "manifest.json").write_text(json.dumps(broken))
        with pytest.raises(BadInput, match="is not a valid adapter manifest"):
            read_manifest(tuned)
    with caplog.at_level(logging.WARNING):
        assert names(TINY, tuned, stamps=tmp_path / "stamps") == []
    assert "is not a valid adapter manifest" in caplog.text
    assert read_manifest(tmp_path / "nowhere") == ()


def test_a_file_is_hashed_once(tmp_path: Path) -> None:
    """What a stamp says is believed while size and time stand; a broken stamp is not."""
    path, stamps = tmp_path / "file", tmp_path / "stamps"
    path.write_bytes(b"hello")
    first = digest(path, stamps=stamps)
    (stamp,) = stamps.iterdir()
    stamp.write_text(stamp.read_text().replace(first, "known"))
    assert digest(path, stamps=stamps) == "known"
    stamp.write_text("{")
    assert digest(path, stamps=stamps) == first
    path.write_bytes(b"hello!")
    assert digest(path, stamps=stamps) != first
    blocked = tmp_path / "file" / "no folder"
    assert digest(path, stamps=blocked) == digest(path, stamps=stamps)


def test_shipping_writes_file_card_and_entry(made: Path) -> None:
    """The card holds the data's card and the run's record; the entry the file's hash."""
    (entry,) = read_manifest(made / "tuned")
    card = json.loads((made / "tuned" / entry.card).read_text())
    assert (card["data"], card["training"]["recipe"]) == (CARD, {"rank": 8})
    assert entry.rank == 8
    assert entry.state(made / "tuned", stamps=made / "stamps") == "whole"
    assert not list((made / "tuned").glob("*.new"))


def test_what_must_not_be_shipped_is_refused(made: Path, tuned: Path, tmp_path: Path) -> None:
    """Data under a licence that forbids it, a skill that is taken, too many bytes: the manifest
    stays as it was. The same name takes its own place."""
    before = read_manifest(tuned)
    with pytest.raises(BadInput, match=r"notes of .* is already served by notes-r8"):
        ship(shipment(made, "other", (Skill.NOTES,)), base=made / "base.gguf", folder=tuned)
    research = tmp_path / "research.json"
    research.write_text(json.dumps({**CARD, "shippable": False}))
    with pytest.raises(BadInput, match="--research"):
        ship(replace(shipment(made), data=research), base=made / "base.gguf", folder=tuned)
    large = replace(before[0], name="large", skills=(Skill.REPLY,), size=MAX_SHIPPED_BYTES)
    write_manifest(tuned, [*before, large])
    with pytest.raises(BadInput, match="more than 70 MB"):
        ship(shipment(made), base=made / "base.gguf", folder=tuned)
    write_manifest(tuned, before)
    ship(shipment(made, skills=(Skill.EVENTS,)), base=made / "base.gguf", folder=tuned)
    assert [one.skills for one in read_manifest(tuned)] == [(Skill.EVENTS,)]


def test_one_takes_the_place_of_another_and_tells_what_it_came_of(made: Path, tuned: Path) -> None:
    """The old file and card are gone, but what the old card said is in the new one; a name that is
    not there is refused."""
    run = made / "further"
    shutil.copytree(made / "run", run, dirs_exist_ok=True)
    (run / "run.json").write_text(json.dumps({"recipe": {"start": "tiny-notes-r8"}}))
    new = replace(shipment(made, name="notes-2"), run=run, instead="notes-r8")
    entry = ship(new, base=made / "base.gguf", folder=tuned)
    assert [one.name for one in read_manifest(tuned)] == ["notes-2"]
    names = {path.name for path in tuned.iterdir()}
    assert names == {"manifest.json", "tiny-notes-2.gguf", "tiny-notes-2.json"}
    card = json.loads((tuned / entry.card).read_text())
    assert card["goes on from"]["adapter"]["name"] == "notes-r8"
    assert card["goes on from"]["data"] == CARD
    with pytest.raises(BadInput, match="no adapter called notes-9"):
        ship(replace(new, instead="notes-9"), base=made / "base.gguf", folder=tuned)


def test_a_skill_may_have_a_share_of_it(made: Path, tuned: Path, tmp_path: Path) -> None:
    """The manifest keeps the share; the skills come in groups of one strength. A share of what it
    does not serve is refused."""
    shares = {Skill.MEMOS: 0.5}
    ship(replace(shipment(made), strengths=shares), base=made / "base.gguf", folder=tuned)
    assert read_manifest(tuned)[0].strengths == shares
    assert isinstance(TINY, CatalogueModel)
    found = adapters_for(TINY, wanted="", stamps=tmp_path, folder=tuned)
    assert [(one.name, one.strength, set(one.skills or ())) for one in found] == [
        ("notes-r8", 1.0, {Skill.NOTES}),
        ("notes-r8×0.5", 0.5, {Skill.MEMOS}),
    ]
    more = replace(shipment(made), strengths={Skill.CHOICE: 0.5})
    with pytest.raises(BadInput, match="for choice, which is not among its skills"):
        ship(more, base=made / "base.gguf", folder=tuned)


def test_an_answer_is_a_reply_where_none_claims_answers() -> None:
    """An adapter for replies alone makes answers, too, unless another one does."""
    replies = Adapter(name="r", path=Path("r"), skills=frozenset({Skill.REPLY}))
    answers = Adapter(name="a", path=Path("a"), skills=frozenset({Skill.ANSWER}))
    answer, reply = (
        Request(messages=(), max_tokens=1, skill=skill) for skill in (Skill.ANSWER, Skill.REPLY)
    )
    assert adapter_for((replies,), answer) is adapter_for((replies, answers), reply) is replies
    assert adapter_for((replies, answers), answer) is answers
    assert adapter_for((answers,), reply) is None


def test_the_commands(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`omoide tune ship` puts one into a folder; a skill that is none is refused by name."""
    assert isinstance(TINY, CatalogueModel)
    weights = tmp_path / "weights" / TINY.artifact.file
    weights.parent.mkdir()
    shutil.copy(made / "base.gguf", weights)
    known = {**file_stamp(weights), "sha256": TINY.artifact.sha256}
    weights.with_name(f"{weights.name}.ok").write_text(json.dumps(known))
    monkeypatch.setenv("OMOIDE_WEIGHTS_DIR", str(weights.parent))
    line = ["tune", "ship", str(made / "run"), "--name", "x", "--base", "tiny", "--json"]
    line += ["--data-card", str(made / "card.json"), "--into", str(tmp_path / "t"), "--skills"]
    told = CliRunner().invoke(cli, [*line, "notes, fused"], catch_exceptions=False)
    assert told.exit_code == 0, told.output
    assert json.loads(told.output)["skills"] == ["notes", "fused"]
    assert (tmp_path / "t" / "tiny-x.gguf").stat().st_size == json.loads(told.output)["size"]
    for share in ("juggling=0.5", "notes=2", "notes=much", "notes"):
        wrong = CliRunner().invoke(cli, [*line, "notes", "--strength", share])
        assert wrong.exit_code == 2
        assert "wanted SKILL=N" in wrong.output
    wrong = CliRunner().invoke(cli, [*line, "notes,juggling"])
    assert wrong.exit_code == 2
    assert "juggling: wanted some of notes, memos" in wrong.output


def test_what_is_in_the_package_is_whole(tmp_path: Path) -> None:
    """Every entry of the manifest has its file, its card and known weights; 70 MB in all."""
    entries = read_manifest()
    known = {w.name: w.artifact.digests for w in CATALOGUE}
    for entry in entries:
        assert entry.state(TUNED, stamps=tmp_path) == "whole"
        assert (TUNED / entry.file).stat().st_size == entry.size
        assert entry.base_sha256 in known[entry.base]
        assert json.loads((TUNED / entry.card).read_text())["data"]["shippable"] is True
    assert sum(entry.size for entry in entries) <= MAX_SHIPPED_BYTES
    claimed = [(entry.base, skill) for entry in entries for skill in entry.skills]
    assert len(set(claimed)) == len(claimed)


def test_the_names_fit_together(tmp_path: Path) -> None:
    """Tasks that can be learnt are skills that can be asked for; the model's name tells its
    adapters before it is loaded."""
    assert set(TASKS) <= set(Skill)
    plain = bootstrap.chat_model(Settings(weights_dir=tmp_path, adapter="none"), "small")
    assert plain.name == "qwen2.5-coder-0.5b-instruct-q4_k_m"
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"one")
    tuned = bootstrap.chat_model(Settings(weights_dir=tmp_path, adapter=str(mine)), "small")
    assert tuned.name.startswith(f"{plain.name}+mine@")


def test_a_slot_is_kept_for_whom_it_served() -> None:
    """A conversation keeps its slot while adapters write notes and memos in the other one; two at
    a time never get the same one."""
    slots = Slots(2)

    def used(prompt: str, adapter: str | None = None) -> int:
        number = slots.acquire(prompt, adapter=adapter).number
        slots.release(number)
        return number

    talk = used("a long talk about towns")
    assert used("a long note about the talk", "notes") != talk
    assert used("a memo", "memos") != talk
    assert used("a long note about the talk, again", "notes") != talk
    assert used("a long talk about towns, and more of it") == talk
    assert used("something else entirely, told by another") != talk
    assert used("a long talk about towns, and more of it, and more") == talk
    both = [slots.acquire("x", adapter=None).number for _ in range(2)]
    assert sorted(both) == [0, 1]
