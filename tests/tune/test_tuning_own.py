"""Talks of our own: five languages, all that is told and nothing else, right in their grammar."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from omoide.claims.attribution import speaker_lines
from omoide.claims.noted_facts import NotedFact
from omoide.domain import Speaker
from omoide.errors import BadInput
from omoide.language import LANGUAGES
from omoide.mechanisms.summary.small_form import MAX_FACTS, SmallForm
from omoide.prompts.transcript import Line
from omoide_tune.own import OwnTalk, cues
from omoide_tune.own.meetings import talks
from omoide_tune.own.phrases import book, particle
from omoide_tune.real_persona_chat import FIRST_PERSON, facts, real_persona_chat
from omoide_tune.sources import select_sources
from omoide_tune.talk import TrainingTalk

if TYPE_CHECKING:
    from pathlib import Path

CHAINS = 40
_MADE: dict[str, list[OwnTalk]] = {}


_OUT = r"[\n\t?!:;\"“”「」『』？！：；]"
NOT_NOTED = {
    "en": re.compile(rf"{_OUT}|^[^a-z]|\b(?:I|my|you)\b"),
    "zh": re.compile(rf"{_OUT}|[我你您咱]"),
    "ja": re.compile(rf"{_OUT}|[私僕俺]|[まで][すしせ]|[まで]$"),
    "ko": re.compile(rf"{_OUT}|(?<![ 중필주수월화목금토일개동])(?<!^)요|니[다요니]|니$"),
    "vi": re.compile(rf"{_OUT}|^[^a-zđăâêôơưáàạảãéèíìóòọúùýỳốồấầắằếềớờứừ]|\b(?:tôi|tớ)\b"),
}
"""What the grammar of the notes does not let pass."""


def holds(fact: NotedFact, own: str, language: str) -> bool:
    """Whether the small form would keep the fact, were it a model's."""
    session = [Line(speaker=fact.about, text=own)]
    reading = SmallForm().read(
        [fact.sentence(language)], old=(), session=session, language=language, limit=20
    )
    return not reading.notes


def made(language: str) -> list[OwnTalk]:
    """A tenth of the chains, made once."""
    return _MADE.setdefault(language, list(talks(language, chains=CHAINS)))


def test_it_may_be_shipped_and_reads_no_files(tmp_path: Path) -> None:
    """The source is among those that are allowed without asking, and needs no data."""
    (source,) = select_sources(("own",), research=False)
    assert source.licence == "Apache-2.0"
    assert next(iter(source.read(tmp_path / "nowhere"))).language in LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_seed_gives_the_same_chains(language: str) -> None:
    """To the letter; another seed gives others."""
    again = list(talks(language, chains=5))
    assert again == made(language)[: len(again)]
    assert list(talks(language, chains=5, seed=3)) != again


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_known_is_what_the_small_form_would_keep(language: str) -> None:
    """Of a hundred facts, 99 are held by what their speaker said; all pass the notes' grammar."""
    kept = Counter[bool]()
    for talk in made(language):
        assert talk.complete
        for who, text in talk.known:
            assert 4 <= len(text) <= 150, text
            assert not NOT_NOTED[language].search(text), text
            own = speaker_lines(talk.lines, who, language)
            kept[bool(own) and holds(NotedFact(about=who, text=text), own, language)] += 1
        assert sum(who is Speaker.USER for who, _ in talk.known) <= MAX_FACTS + 1
    assert kept[True] > 0.99 * kept.total()
    assert kept.total() > 3 * CHAINS


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_left_to_fill(language: str) -> None:
    """No slot, no choice of tone, no particle; and the two take turns."""
    for talk in made(language):
        texts = [line.text for line in talk.lines]
        texts += [text for _, text in talk.known] + [cue.reply for cue in talk.cues]
        for text in texts:
            assert not re.search(r"[{}<>\[\]*]|\(n\)|^\s|\s$|  ", text), text
        for one, other in zip(talk.lines, talk.lines[1:], strict=False):
            assert one.speaker is not other.speaker


@pytest.mark.parametrize("language", LANGUAGES)
def test_facts_change_and_meetings_may_hold_nothing(language: str) -> None:
    """What became untrue was known from an earlier talk of the chain; what is so is known now."""
    before: dict[str, list[tuple[Speaker, str]]] = {}
    changes = empty = 0
    for talk in made(language):
        known = before.setdefault(talk.chain, [])
        for who, old, new in talk.changed:
            assert (who, old) in known
            assert (who, new) in talk.known
            known.remove((who, old))
            changes += 1
        known.extend(talk.known)
        empty += not talk.known
    assert changes > CHAINS // 2
    assert empty >= 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_cue_calls_for_what_was_told_before(language: str) -> None:
    """Many kinds of it; its fact stands first, was told at an earlier meeting and is still true,
    and the friend's reply is the next line."""
    kinds = Counter[str]()
    before: dict[str, list[tuple[Speaker, str]]] = {}
    for talk in made(language):
        known = before.setdefault(talk.chain, [])
        for cue in cues(talk):
            kinds[cue.kind] += 1
            assert talk.lines[cue.at].text == cue.message or cue.message in talk.lines[cue.at].text
            assert talk.lines[cue.at + 1].text.startswith(cue.reply)
            assert talk.lines[cue.at + 1].speaker is Speaker.ASSISTANT
            assert bool(cue.fits) == bool(cue.kind)
            if cue.fits:
                assert cue.facts[0] in known
        known.extend(talk.known)
    assert len(kinds) > 15
    assert kinds[""] > CHAINS // 2
    assert cues(TrainingTalk(key="", language=language, lines=())) == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_kinds_and_enough_words(language: str) -> None:
    """Each sort of fact in at least three wordings, and twenty names and towns to choose from."""
    own = book(language)
    assert own.kinds.keys() == book("en").kinds.keys()
    for kind in own.kinds.values():
        assert len(kind.tell) >= 3, kind.name
        assert all(len(cue) >= 2 for cue in kind.cue)
    for slot in ("name", "girl", "town", "job", "food", "hobby"):
        assert len(set(own.slots[slot])) == len(own.slots[slot]) >= 20


def test_a_language_without_phrases_is_told() -> None:
    """With its name."""
    with pytest.raises(BadInput, match="'xx'"):
        book("xx")


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("부산", "으로", "으로"),
        ("제주", "으로", "로"),
        ("서울", "으로", "로"),
        ("고양이", "을", "를"),
        ("햄스터", "이라", "라"),
        ("콩", "이", "이"),
        ("3", "을", "을"),
        ("2", "을", "를"),
    ],
)
def test_a_korean_particle_follows_the_sound_before_it(before: str, name: str, after: str) -> None:
    """The last consonant decides; after ㄹ, 으로 loses its vowel."""
    assert particle(before, name) == after


def test_english_articles_are_right() -> None:
    """No "a apple", no "an unicorn", by the sound."""
    said = " ".join(line.text for talk in made("en") for line in talk.lines)
    said += " ".join(text for talk in made("en") for _, text in talk.known)
    assert not re.search(r"\ba (?:[aeio]|8\d-)\w*", said)
    assert not re.search(r"\ban (?:[bcdfgjklmnpqrstvwxyz]|ukulele|uni)", said)


@pytest.mark.parametrize(
    ("said", "noted"),
    [
        ("はい、私も犬を二匹飼っています。", ["犬を二匹飼っている"]),
        ("関西に住んでいるので、雪は珍しいです。", ["関西に住んでいる"]),
        ("トマトは苦手ですが、ケチャップは好きです。", ["トマトが苦手だ", "ケチャップが好きだ"]),
        ("弟が２人いて、", ["弟が２人いる"]),
        ("お酒はあまり飲みません。", ["お酒はあまり飲まない"]),
        ("妹は猫が好きです。", []),
        ("その店が好きです。", []),
        ("ジムに通ってるんですね！", []),
        ("お魚は好きですか？", []),
        ("私の方が好きです。", []),
    ],
)
def test_what_people_plainly_say_of_themselves_in_japanese(said: str, noted: list[str]) -> None:
    """By rule; nothing where it may be about somebody or something else."""
    assert facts(said) == noted


def test_real_talks_come_as_chains(tmp_path: Path) -> None:
    """A pair is a chain; whoever stands first in it is the user. Missing data is told."""
    with pytest.raises(BadInput, match="is --data right"):
        list(real_persona_chat(tmp_path))
    said = [
        ("B", "こんにちは"),
        ("A", "うさぎを飼っています。"),
        ("B", "いいですね、猫も好きです。"),
    ]
    row = {
        "pair": ["A", "B"],
        "dialogues": [
            {
                "dialogue_id": 7,
                "utterances": [{"interlocutor_id": who, "text": text} for who, text in said],
            }
        ],
    }
    folder = tmp_path / "real_persona_chat"
    folder.mkdir()
    packed = gzip.compress(json.dumps(row).encode())
    (folder / "multi_day_pairs.jsonl.gz").write_bytes(packed)
    (talk,) = real_persona_chat(tmp_path)
    assert (talk.key, talk.chain, talk.complete) == ("A-B/7", "A-B", False)
    assert talk.known == (
        (Speaker.USER, "うさぎを飼っている"),
        (Speaker.ASSISTANT, "猫が好きだ"),
    )
    assert FIRST_PERSON.search("うさぎを飼っています。")
    assert not FIRST_PERSON.search("そうなんだ！")
