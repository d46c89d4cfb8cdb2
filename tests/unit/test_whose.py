"""What was told of somebody near to the speaker is noted of them."""

from __future__ import annotations

import pytest

from omoide.domain import Speaker
from omoide.memory.summary.both_form import BothForm
from omoide.memory.summary.facts import VOICES, Fact
from omoide.memory.summary.small_form import LEAST, SmallForm
from omoide.memory.summary.whose import attributed
from omoide.memory.transcript import Line

USER, ASSISTANT = Speaker.USER, Speaker.ASSISTANT


def lines(said: str) -> list[Line]:
    """A session, a line for each part between bars; those with ">" before them are the other's."""
    return [
        Line(
            speaker=ASSISTANT if part.startswith(">") else USER, text=part.removeprefix(">").strip()
        )
        for part in said.split("|")
    ]


def of_whom(language: str, said: str, noted: str) -> str:
    """The note about the user, as it is told in the end."""
    fact = Fact(about=USER, text=noted)
    return attributed(fact, lines(said), language, least=LEAST[language]).text


ANOTHERS = [
    (
        "en",
        "My husband Tom is allergic to cats.",
        "is allergic to cats",
        "has a husband, Tom, who is allergic to cats",
    ),
    (
        "en",
        "My husband is allergic to cats, so we have none.",
        "is allergic to cats",
        "has a husband who is allergic to cats",
    ),
    (
        "en",
        "Well, our aunt, Mary Ann, lives in Leeds.",
        "lives in Leeds",
        "has an aunt, Mary Ann, who lives in Leeds",
    ),
    (
        "en",
        "My husband is a baker and works nights.|>Oh!|I love cats.",
        "works nights",
        "has a husband who works nights",
    ),
    ("en", "My parents live in Leeds.", "lives in Leeds", "has parents who live in Leeds"),
    (
        "en",
        "Our Grandparents always watch the news.",
        "always watches the news",
        "has grandparents who always watch the news",
    ),
    (
        "en",
        ">Are you allergic to anything?|No, but my older sister's allergic to nuts.",
        "is allergic to nuts",
        "has an older sister who is allergic to nuts",
    ),
    (
        "en",
        "I teach, but my best friend Ana is a pilot.",
        "is a pilot",
        "has a best friend, Ana, who is a pilot",
    ),
    (
        "en",
        "My son is a pilot and my daughter is a nurse.",
        "is a nurse",
        "has a daughter who is a nurse",
    ),
    ("zh", "我老公对猫过敏。", "对猫过敏", "的老公对猫过敏"),
    ("zh", "我妈是护士，我喜欢猫。", "是护士", "的妈是护士"),
    ("zh", "其实我的妹妹小雨在成都工作。", "在成都工作", "的妹妹在成都工作"),
    ("zh", "我开车，但是我表弟怕狗。", "怕狗", "的表弟怕狗"),
    ("ja", "夫は猫アレルギーなんです。", "猫アレルギーである", "夫が猫アレルギーである"),
    (
        "ja",
        "うちの夫のトムは猫アレルギーでね、困ってます。",
        "猫アレルギーである",
        "夫のトムが猫アレルギーである",
    ),
    (
        "ja",
        "私の姉が大阪で看護師をしてて、忙しいみたい。",
        "大阪で看護師をしている",
        "姉が大阪で看護師をしている",
    ),
    (
        "ja",
        "そういえば、私のお母さんは最近ヨガを始めたよ。",
        "ヨガを始めた",
        "お母さんがヨガを始めた",
    ),
    (
        "ko",
        "남편은 고양이 알레르기가 있어요.",
        "고양이 알레르기가 있다",
        "남편이 고양이 알레르기가 있다",
    ),
    ("ko", "우리 언니는 부산에 살아. 나는 커피를 마셔.", "부산에 산다", "언니가 부산에 산다"),
    ("ko", "제 여동생이 간호사예요.", "간호사이다", "여동생이 간호사이다"),
    ("ko", "우리 남편 민수는 강아지를 키워.", "강아지를 키운다", "남편 민수가 강아지를 키운다"),
    ("vi", "Chồng mình bị dị ứng với mèo.", "bị dị ứng với mèo", "có chồng bị dị ứng với mèo"),
    ("vi", "Mình thích mèo, nhưng em gái tôi sợ chó.", "sợ chó", "có em gái sợ chó"),
    ("vi", "Mẹ của mình đang làm y tá ở Huế.", "làm y tá ở Huế", "có mẹ làm y tá ở Huế"),
    ("vi", "Bố mẹ em sống ở Đà Lạt.", "sống ở Đà Lạt", "có bố mẹ sống ở Đà Lạt"),
    ("ja", "夫はトムという名前です。", "トムという名前だ", "トムという夫がいる"),
    ("zh", "我老公叫王强。", "叫王强", "的老公叫王强"),
]


@pytest.mark.parametrize(("language", "said", "noted", "wanted"), ANOTHERS)
def test_what_was_told_of_somebody_near_is_noted_of_them(
    language: str, said: str, noted: str, wanted: str
) -> None:
    """By the word that the speaker has for them."""
    assert of_whom(language, said, noted) == wanted


OWN = [
    ("en", "My son and I are allergic to cats.", "is allergic to cats"),
    ("en", "I and my brother moved to Leeds.", "moved to Leeds"),
    ("en", "My wife says I am a good cook.", "is a good cook"),
    ("en", "My husband is allergic to cats. So am I.", "is allergic to cats"),
    (
        "en",
        "My husband is allergic to cats.|>Poor Tom!|Yes, and I'm allergic to cats, too.",
        "is allergic to cats",
    ),
    (
        "en",
        "My husband is allergic to cats.|>And are you allergic to cats?|Yes.",
        "is allergic to cats",
    ),
    ("en", "My husband is a baker.", "has a husband who is a baker"),
    ("en", "My husband bought a dog.", "has a dog"),
    ("en", "My dad stopped smoking.", "smokes"),
    ("en", "My husband also is a pilot.", "is a pilot"),
    ("en", "My sister's husband is a pilot.", "is a pilot"),
    ("en", "My dog is afraid of thunder.", "is afraid of thunder"),
    ("en", "My son is a pilot. My daughter is a pilot.", "is a pilot"),
    ("en", ">My husband is a pilot.|I am in Leeds.", "is a pilot"),
    ("en", "My husband is a baker, and I work nights.", "works nights"),
    ("zh", "我和老公对猫过敏。", "对猫过敏"),
    ("zh", "我老公对猫过敏，我也是。", "对猫过敏"),
    ("zh", "我妈说我是好厨师。", "是好厨师"),
    ("zh", "我妈妈的同事是护士。", "是护士"),
    ("zh", "我姐是护士，我自己是护士。", "是护士"),
    ("zh", "我妈不吃辣。", "的妈妈不吃辣"),
    ("zh", "我老公不在家，养了两只猫。", "养了两只猫"),
    ("ja", "夫も私も猫アレルギーです。", "猫アレルギーである"),
    ("ja", "夫は猫アレルギーです。私もです。", "猫アレルギーである"),
    ("ja", "母が作ったカレーが好きです。", "カレーが好きである"),
    ("ja", "夫は忙しいけど、犬を飼ってるよ。", "犬を飼っている"),
    ("ja", "友達ができなくて寂しい。", "できなくて寂しい"),
    ("ja", "姉の私が強かったですね。", "強かった"),
    ("ja", "友達が増えたよ。", "増えた"),
    ("ja", "兄は大阪で医者をしてましたか？", "大阪で医者をしている"),
    (
        "ja",
        "私のお母さんは大阪の病院で看護師をしている。",
        "お母さんは大阪の病院で看護師をしている",
    ),
    ("ja", "姉は教師と結婚した。", "教師である"),
    ("ja", "妹さんは看護師なんですね。", "看護師である"),
    ("ja", "姉が二人いる。", "姉が二人いる"),
    ("ko", "남편이랑 나는 고양이 알레르기가 있어요.", "고양이 알레르기가 있다"),
    ("ko", "남편은 고양이 알레르기가 있어요. 저도요.", "고양이 알레르기가 있다"),
    ("ko", "남편이 만든 파스타를 좋아해.", "파스타를 좋아한다"),
    ("ko", "남편은 바쁘고 나는 강아지를 키워.", "강아지를 키운다"),
    ("ko", "할머니가 부산에 사시니 좋겠다.", "부산에 산다"),
    ("ko", "이름은 우리 할머니가 지어 주셨어.", "지어 주셨다"),
    ("ko", "우리 언니는 간호사랑 결혼했어.", "간호사이다"),
    ("ko", "우리 언니는 부산에 살아.", "부산에 사는 언니가 있다"),
    ("vi", "Vợ chồng mình sống ở Huế.", "sống ở Huế"),
    ("vi", "Chồng mình và mình bị dị ứng với mèo.", "bị dị ứng với mèo"),
    ("vi", "Chồng mình bị dị ứng với mèo. Mình cũng vậy.", "bị dị ứng với mèo"),
    ("vi", "Mẹ mình bảo mình nấu ăn ngon.", "nấu ăn ngon"),
    ("vi", "Mẹ mình ở Huế, sống một mình ở Đà Lạt.", "sống một mình ở Đà Lạt"),
    ("vi", "Chồng mình sợ chó.", "có chồng sợ chó"),
]


@pytest.mark.parametrize(("language", "said", "noted"), OWN)
def test_what_is_or_may_be_the_speakers_own_stays(language: str, said: str, noted: str) -> None:
    """As does what already names whose it is."""
    assert of_whom(language, said, noted) == noted


@pytest.mark.parametrize("form", [SmallForm(), BothForm()])
@pytest.mark.parametrize(
    ("language", "said", "noted", "wanted"), [ANOTHERS[i] for i in (0, 9, 13, 17, 21)]
)
def test_the_small_form_notes_of_whom_it_was_told(
    form: SmallForm, language: str, said: str, noted: str, wanted: str
) -> None:
    """Through the reading of a model's answer, by every guard."""
    subject = VOICES[language].subject(USER)
    reading = form.read(
        [f"{subject}{noted}"], old=(), session=lines(said), language=language, limit=20
    )
    assert [s.text for s in reading.told] == [f"{subject}{wanted}{VOICES[language].stop}"]
