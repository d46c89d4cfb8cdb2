"""The name by which people introduce themselves is found, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from omoide.language import introduced_name


@pytest.mark.parametrize(
    ("language", "said", "name"),
    [
        ("en", "Hi, I'm Sam. I live in Leeds and I play the violin.", "Sam"),
        ("en", "Hey, Ben here. I drive a tram in Porto.", "Ben"),
        ("en", "Hey! My name's Ana and I work as a nurse in Porto.", "Ana"),
        ("en", "my name is ana", "Ana"),
        ("en", "I'm Ana", "Ana"),
        ("en", "I am Anna-Maria, nice to meet you", "Anna-Maria"),
        ("en", "Hello, my name is Emily. Nice to meet you.", "Emily"),
        ("en", "You can call me Al.", "Al"),
        ("en", "Actually my name is Anna, not Ana.", "Anna"),
        ("en", "I changed my name to Kit.", "Kit"),
        ("en", "I’m José, and you?", "José"),
        ("zh", "你好，我叫小明，在北京当老师，养了一只叫豆豆的猫。", "小明"),
        ("zh", "我叫安娜", "安娜"),
        ("zh", "我的名字是王芳。", "王芳"),
        ("zh", "我是王芳，你呢", "王芳"),
        ("zh", "叫我小李就行", "小李"),
        ("zh", "我叫Ana。", "Ana"),
        ("zh", "我叫安娜在上海工作", "安娜"),
        ("ja", "ミキです。東京で教師をしています。", "ミキ"),
        ("ja", "こんにちは。私は健太、東京で教師をしていて、猫のモチと暮らしてるよ。", "健太"),
        ("ja", "アナです", "アナ"),
        ("ja", "はじめまして、田中と申します。", "田中"),
        ("ja", "名前はさくらです。", "さくら"),
        ("ja", "私の名前は山田太郎です", "山田太郎"),
        ("ja", "ゆみと呼んでください。", "ゆみ"),
        ("ja", "健太って言います。よろしく", "健太"),
        ("ko", "안녕, 나는 민수야. 서울에서 교사로 일하고 고양이 콩이랑 살아.", "민수"),
        ("ko", "저는 아나예요", "아나"),
        ("ko", "안녕하세요, 저는 지영이에요. 대전에서 간호사로 일하고 있어요.", "지영"),
        ("ko", "제 이름은 김민수입니다.", "김민수"),
        ("ko", "민수라고 불러 주세요.", "민수"),
        ("ko", "지영이라고 해요.", "지영"),
        (
            "vi",
            "Chào bạn, mình là Nam, mình làm giáo viên ở Hà Nội và nuôi con mèo tên Mướp.",
            "Nam",
        ),
        ("vi", "Tôi tên là Ana", "Ana"),
        ("vi", "Xin chào, tôi tên là Lan, tôi là y tá ở Cần Thơ.", "Lan"),
        ("vi", "Tên mình là Nguyễn Văn Nam.", "Nguyễn Văn Nam"),
        ("vi", "Cứ gọi mình là Thảo nhé.", "Thảo"),
        ("en", "My name is April.", "April"),
        ("en", "Everyone calls me Kit.", "Kit"),
    ],
)
def test_a_plain_introduction_tells_the_name(language: str, said: str, name: str) -> None:
    """In all five languages, at the beginning or among other things."""
    assert introduced_name(said, language) == name


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "I'm tired."),
        ("en", "I'm Ana's mother."),
        ("en", "I'm Irish."),
        ("en", "I'm not Ana."),
        ("en", "My dog's name is Rex."),
        ("en", "My name is not important."),
        ("en", "Don't call me Sam."),
        ("en", "I'm ADHD, sorry."),
        ("en", "I'm in Paris."),
        ("en", "She said I'm Karen to her."),
        ("en", "I am Italian and my name is hard to spell."),
        ("en", "I'm May's sister"),
        ("en", "I'm a Leo."),
        ("zh", "我叫了外卖。"),
        ("zh", "我是老师。"),
        ("zh", "我是程序员"),
        ("zh", "我有一只猫，叫豆豆。"),
        ("zh", "你知道我叫什么吗？"),
        ("zh", "我不叫小明。"),
        ("zh", "我是小学生。"),
        ("zh", "我妈妈叫王芳。"),
        ("ja", "教師です。"),
        ("ja", "元気です。"),
        ("ja", "エンジニアです。"),
        ("ja", "猫の名前はモチです。"),
        ("ja", "アナの母です。"),
        ("ja", "アナですか？"),
        ("ja", "疲れています。"),
        ("ja", "私は東京に住んでいます。"),
        ("ja", "私は教師です。"),
        ("ja", "サッカーが好きです。"),
        ("ja", "友だちがいいと言います。"),
        ("ko", "저는 간호사예요."),
        ("ko", "저는 학생이에요."),
        ("ko", "나는 괜찮아."),
        ("ko", "저는 아나의 엄마예요."),
        ("ko", "고양이 이름은 콩이야."),
        ("ko", "나는 피곤해."),
        ("ko", "내 이름 기억해?"),
        ("ko", "저는 주말마다 등산을 가고 싶어요."),
        ("vi", "Tôi là giáo viên."),
        ("vi", "Tôi là mẹ của Ana."),
        ("vi", "Mẹ mình là Lan."),
        ("vi", "Con mèo của mình tên Mướp."),
        ("vi", "Bạn trai mình tên Quân, anh ấy là đầu bếp ở trong đó."),
        ("vi", "Mình mệt quá."),
        ("vi", "Đừng gọi mình là Nam."),
        ("vi", "Mình là Mẹ Nam."),
        ("en", "I'm April's neighbour."),
        ("en", 'She said "my name is Bob" and left.'),
        ("ja", "失敗です。寝坊しました。"),
        ("ja", "名前はともかく、楽しいね。"),
    ],
)
def test_what_somebody_is_or_whom_they_know_is_no_name(language: str, said: str) -> None:
    """States, jobs, peoples, mothers, cats, denials and questions introduce nobody."""
    assert introduced_name(said, language) == ""


@pytest.mark.parametrize(("language", "said"), [("ja", "ミキです。"), ("ko", "저는 아나예요.")])
def test_a_bare_name_counts_where_people_introduce_themselves(language: str, said: str) -> None:
    """At the opening or behind a greeting; later the same words answer any question."""
    greeting = {"ja": "はじめまして。", "ko": "안녕하세요, "}[language]
    assert introduced_name(said, language, opening=True)
    assert introduced_name(greeting + said, language, opening=False)
    assert not introduced_name(said, language, opening=False)


def test_the_last_introduction_counts() -> None:
    """Who puts it right is called what they say last."""
    assert introduced_name("I'm Anna. Sorry, my name is Ana.", "en") == "Ana"
