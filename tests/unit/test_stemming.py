"""English stems: those of the Snowball stemmer, since every index holds them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omoide.language.stemming import stem

WORDS = """
sky news howe atlas cosmos bias andes skis skies idly gently ugly early only singly
gas this gaps kiwis ties cries tied cried ied ies caresses grasses virus bus boss class classes
dogs' dog's dogs's' 'tis 'twas rock'n'roll o'clock isn't y'all
a i be is as us by say cry dry why dyed eye yes you youth yoyo boyish beyond player enjoy enjoyed
employee syzygy sayings annoyances typically yearly daily flying
dying lying tying dyeing dries drying
inning innings outing outings canning cannings herring herrings earring earrings
proceed proceeds proceeded proceeding exceed exceeds succeed succeeded succeeding
agreed agreedly feed feeds bleed freed guaranteed need indeed speed seed
hoped hoping hopped hopping planned planning running begged begging rubbed stuffed stuffing
programmed stopped occurred admitted admittedly fitting skiing seeing being ring sing sting thing
string bring king bed red shed shredding sled
luxuriating luxuriated conflated enabled enabling sizing sized baking boxing snowing fixed playing
showed vexed tapped taped filing falling failing hissing fizzing missed calling rolled
bedly repeatedly markedly lovingly exceedingly supposedly knowingly seemingly unendingly
conditional conditionally rational rationally sensational relational operational
valency valenci hesitancy frequency instancy vacancy
comfortably conformably possibly terribly probably nobly humbly
differently apparently silently intently
digitizer analyzer vietnamization civilization
predication operator narrator nation station vacation creation relation
feudalism capitalism formality formaliti radically generally finally fully
hopefulness carefulness thoughtfully hopefully carefully
callousness callously dangerously nervousness
decisiveness effectiveness sensitivity activity relativity
sensibility ability possibility feasibility
apology biology astrology geologic analogy pedagogy demagogy logi
carelessly endlessly recklessly
quickly kindly likely badly simply strongly roughly bleakly warmly thinly clearly recently family
holy july lily belly jelly rally
triplicate duplicate electricity electrical critical medical
formative formalize realize naturalize formalise personalize
goodness kindness witness fitness hopeful careful wonderful useful cupful
demonstrative imaginative talkative alternative relative native
revival allowance inference airliner gyroscopic adjustable defensible irritant replacement
adjustment dependent communism activate angularity homologous effective bowdlerize adoption
region million passion fusion opinion onion tension action
commune community communities communal arsenal arsenic general generic generate generation generous
probate rate cease controllable controll roll controlling enrol fulfill doll parallel
make made table able ore one ride taste
consign consigned consigning consistency consolation consolatory conspicuously constables
knackeries kneading knightly knitting knives knocker
happy happily happiness happier birthday birthdays holiday holidays Monday's
appetizing inequality additionally certificate weaknesses allusion revisions seaweed considered
comfortabled grandmother grandmothers mother mothers anniversary anniversaries doctor doctors
2023 1990s 3rd 42nd b2b x1y2 aaa yyy bcdf 東京 naïve über
""".lower().split()

AFTER_RELEASE_3 = """
past past paste paste pasted paste pasting paste pastes paste pasta pasta
universe univers universes univers universal universal universally universal
university universiti universities universiti
lateral lateral laterally lateral later later
organ organ organs organ organization organiz organized organiz organizing organiz organizer organiz
emerge emerg emerged emerg emergency emergenc emergencies emergenc emergent emergent
internal internal international internat interest interest interesting interest interior interior
geologist geolog biologist biolog psychologists psycholog apologist apolog
evening evening evenings evening eveningly even even even
add add added add adding add egg egg egged egg egging egg off off offing off ebbed ebb odded odd
hying hie vying vie dyings die realization realiz
""".split()
"""Words and their stems in release 3 of Snowball, many of them other than in NLTK, which follows
release 2."""


def test_stems_are_snowballs() -> None:
    """NLTK, another implementation of the same description, finds the same stems."""
    snowball: Any = pytest.importorskip("nltk.stem.snowball").SnowballStemmer("english")
    assert {word: stem(word) for word in WORDS} == {word: snowball.stem(word) for word in WORDS}


def test_newer_exceptions() -> None:
    """Words that once shared a stem with an unrelated word no longer do."""
    expected = dict(zip(AFTER_RELEASE_3[::2], AFTER_RELEASE_3[1::2], strict=True))
    assert {word: stem(word) for word in expected} == expected


@given(st.text("aeiouybcdglnsptwx'1é", max_size=12))
def test_any_text_has_a_stem(word: str) -> None:
    """A stem is never longer than its word with an "e" more, and holds no marks of the stemmer."""
    found = stem(word)
    assert len(found) <= len(word) + 1
    assert found == found.lower()
