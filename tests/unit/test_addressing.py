"""Notes as said to the person, and back: in five languages, and left alone where it is not sure."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from omoide.language.addressing import all_to_user, apposed_name, from_user, to_user

NAMES = {"en": "Nadia", "zh": "纳迪娅", "ja": "ナディア", "ko": "나디아", "vi": "Nadia"}
SHE = {"en": "she ", "zh": "她", "ja": "彼女", "ko": "그녀", "vi": "cô "}
THIRD = {"en": "user", "zh": "用户", "ja": "ユーザー", "ko": "사용자", "vi": "người dùng"}

ASSISTANT = {
    "en": "assistant", "zh": "助手", "ja": "アシスタント", "ko": "어시스턴트", "vi": "trợ lý",
}  # fmt: skip


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("The user is allergic to walnuts.", "You are allergic to walnuts."),
        ("User is allergic to walnuts.", "You are allergic to walnuts."),
        ("The user, Nadia, binds and restores old books.", "You bind and restore old books."),
        ("Nadia doesn't eat meat.", "You don't eat meat."),
        ("The user is called Nadia.", "You are called Nadia."),
        ("The user is Nadia.", "You are Nadia."),
        ("The user's name is Nadia.", "Your name is Nadia."),
        ("The user's sister lives with her son.", "Your sister lives with her son."),
        ("The user lives with her brother and his dog.", "You live with your brother and his dog."),
        ("The user likes cats and dogs.", "You like cats and dogs."),
        ("Keiko is ill, so User stays in Japan.", "Keiko is ill, so you stay in Japan."),
        ("NRK called; the user still thinks about it.", "NRK called; you still think about it."),
        ("The house that the user's aunt owns.", "The house that your aunt owns."),
        ("The user studies law and wants to move.", "You study law and want to move."),
        ("The user always watches films.", "You always watch films."),
        ("A library offered the user work; she has to answer.", None),
        ("The user asked her to stay.", "You asked her to stay."),
        ("The user said that it helps him.", "You said that it helps you."),
        ("The user has two cats; they sleep all day.", "You have two cats; they sleep all day."),
        ("The user fell when she was seven and is afraid.", None),
        ("Biscuit cut her paw.", "Biscuit cut her paw."),
        ("The assistant advised the user to rest.", "I advised you to rest."),
    ],
)
def test_english_notes_speak_to_the_person(note: str, said: str | None) -> None:
    """The verb agrees; a pronoun of somebody else stays."""
    expected = said or {
        "A library offered the user work; she has to answer.": (
            "A library offered you work; you have to answer."
        ),
        "The user fell when she was seven and is afraid.": (
            "You fell when you were seven and are afraid."
        ),
    }.get(note)
    assert to_user(note, "en", name="Nadia", about_user=True) == expected


@pytest.mark.parametrize(
    ("language", "note", "said"),
    [
        ("zh", "用户会弹吉他，她每天练习。", "你会弹吉他，你每天练习。"),
        ("zh", "用户的姐姐住在北京，她是医生。", "你的姐姐住在北京，她是医生。"),
        ("ja", "ユーザーのナディアは、古い本を直す。", "古い本を直す。"),
        ("ja", "ユーザーの妹は医者だ。", "ナディアさんの妹は医者だ。"),
        ("ko", "사용자 나디아는 책을 복원한다.", "책을 복원한다."),
        ("ko", "사용자의 여동생은 의사다.", "나디아 님의 여동생은 의사다."),
        ("vi", "Người dùng, Nadia, phục chế sách cũ.", "Bạn phục chế sách cũ."),
        ("vi", "Em gái của người dùng là bác sĩ.", "Em gái của bạn là bác sĩ."),
        ("de", "Der Nutzer wohnt in Porto.", "Der Nutzer wohnt in Porto."),
    ],
)
def test_other_languages_speak_to_the_person(language: str, note: str, said: str) -> None:
    """As people do: without a subject where there is none, and by name."""
    assert to_user(note, language, name=NAMES.get(language, "")) == said


@pytest.mark.parametrize(
    ("language", "note", "said"),
    [
        ("en", "The assistant suggested floating in water.", "I suggested floating in water."),
        ("en", "Assistant has never been to Canada.", "I have never been to Canada."),
        ("en", "The assistant is a gardener and likes tea.", "I am a gardener and like tea."),
        ("en", "The assistant was asked to remind the user.", "I was asked to remind you."),
        ("en", "The assistant likes her garden.", "I like her garden."),
        ("en", "The assistant's advice was to rest.", "My advice was to rest."),
        ("en", "The user asked the assistant for a poem.", "You asked me for a poem."),
        ("en", "The user thinks the assistant is kind.", "You think I am kind."),
        ("en", "The user knows the assistant manager.", "You know the assistant manager."),
        ("en", "The assistant manager called the user.", "The assistant manager called you."),
        ("en", "The user works as an assistant.", "You work as an assistant."),
        ("zh", "助手建议用户先在浅水里漂浮。", "我建议你先在浅水里漂浮。"),
        ("zh", "用户是一名助手。", "你是一名助手。"),
        ("ja", "アシスタントは、浮くことを勧めた。", "私は、浮くことを勧めた。"),
        ("ja", "アシスタントの田中さんは親切だ。", "アシスタントの田中さんは親切だ。"),
        ("ko", "어시스턴트는 뜨는 것부터 권했다.", "나는 뜨는 것부터 권했다."),
        ("ko", "어시스턴트가 책을 추천했다.", "내가 책을 추천했다."),
        ("vi", "Trợ lý gợi ý người dùng nằm ngửa.", "Tôi gợi ý bạn nằm ngửa."),
        ("vi", "Trợ lý giám đốc gọi cho người dùng.", "Trợ lý giám đốc gọi cho bạn."),
    ],
)
def test_the_assistant_speaks_of_itself_as_i(language: str, note: str, said: str) -> None:
    """Only where it is surely meant: people have assistants, and some are one."""
    assert to_user(note, language) == said


@pytest.mark.parametrize(
    ("language", "old", "said", "note"),
    [
        ("en", "The assistant advised rest.", "I advise you a walk.", None),
        ("en", "The user lives in Porto.", "I live in Braga.", "The user lives in Braga."),
        ("zh", "助手建议休息。", "我建议你散步。", "助手建议用户散步。"),
        ("ja", "アシスタントは休むよう勧めた。", "私は散歩を勧めた。", None),
        ("ko", "어시스턴트는 휴식을 권했다.", "나는 산책을 권했다.", None),
        ("vi", "Trợ lý khuyên nghỉ.", "Tôi khuyên bạn đi dạo.", "Trợ lý khuyên người dùng đi dạo."),
    ],
)
def test_i_is_who_said_it_in_a_correction(
    language: str, old: str, said: str, note: str | None
) -> None:
    """The assistant where its own note is corrected, which the page shows as "I …"."""
    expected = note or {
        "en": "The assistant advises the user a walk.",
        "ja": "アシスタントは散歩を勧めた。",
        "ko": "어시스턴트는 산책을 권했다.",
    }.get(language)
    assert from_user(said, language, instead_of=old) == expected


@pytest.mark.parametrize("language", list(NAMES))
def test_the_demo_never_calls_the_person_a_user(language: str) -> None:
    """Every sentence and event of its five languages."""
    story = json.loads(files("omoide.demo").joinpath(f"{language}.json").read_text("utf-8"))
    for note in [*story["sentences"].values(), *story["events"].values()]:
        for name in (NAMES[language], ""):
            said = to_user(note, language, name=name).lower()
            assert THIRD[language] not in said, note
            assert ASSISTANT[language] not in said, note
    for reason in story["reasons"].values():
        said = to_user(reason, language, name=NAMES[language]).lower()
        assert SHE[language] not in said, reason


@pytest.mark.parametrize(
    ("language", "said", "note"),
    [
        ("en", "You live in Braga.", "The user lives in Braga."),
        ("en", "I live in Braga with my dog.", "The user lives in Braga with their dog."),
        ("en", "I'm allergic to nuts.", "The user is allergic to nuts."),
        ("en", "My sister is a doctor.", "The user's sister is a doctor."),
        ("en", "You moved to Braga.", "The user moved to Braga."),
        ("en", "Biscuit is a dog.", "Biscuit is a dog."),
        ("en", "The user lives in Braga.", "The user lives in Braga."),
        ("zh", "我住在布拉加。", "用户住在布拉加。"),
        ("ja", "ブラガに住んでいる。", "ユーザーはブラガに住んでいる。"),
        ("ja", "私はブラガに住んでいる。", "ユーザーはブラガに住んでいる。"),
        ("ja", "ビスケットは犬だ。", "ビスケットは犬だ。"),
        ("ko", "브라가에 산다.", "사용자는 브라가에 산다."),
        ("ko", "비스킷은 개다.", "비스킷은 개다."),
        ("vi", "Tôi sống ở Braga.", "Người dùng sống ở Braga."),
    ],
)
def test_a_correction_becomes_a_note(language: str, said: str, note: str) -> None:
    """Whether it speaks to the person or is said by them; a model will read it."""
    assert from_user(said, language) == note


PASTS = """
arose ate awoke beat became began bent bet bit bled blew bound bought bred broke broadcast brought
built burnt burst came cast caught chose clung cost crept cut dealt did drank dreamt drew drove dug
dwelt fed fell felt fit fled flew flung forbade forecast foresaw forgave forgot fought found froze
gave got grew ground had heard held hid hit hung hurt kept knelt knew knit laid lay leant leapt
learnt led left lent let lit lost made meant met misled mistook misunderstood outgrew overcame
overheard overslept overtook paid put quit ran rang read rebuilt redid repaid retook rewrote rid
rode rose said sang sank sat saw sent set shed shone shook shot shrank shut slept slid slit slung
sold sought spat sped spelt spent spilt split spoilt spoke sprang spread spun stank stole stood
strode strove struck stuck stung sublet swam swept swore swung taught thought threw thrust told took
tore trod underwent understood undertook undid unwound upheld upset was wed went wept wet withdrew
withheld withstood woke won wore wound wove wrote babysat ghostwrote overrode moved
visited studied agreed
""".split()
"""Of regular verbs, too."""
PRESENTS = """
work works teach teaches play plays carry carries do does have has go goes watch watches am is live
lives like likes want wants study studies need needs feed feeds succeed succeeds fix fixes miss
misses wash washes buzz buzzes try tries say says enjoy enjoys echo echoes rely relies reply replies
apply applies focus focuses telemark telemarks crochet crochets don't doesn't haven't hasn't
""".split()


@pytest.mark.parametrize("subject", ["I", "You"])
def test_what_is_over_stays_so_in_a_note(subject: str) -> None:
    """A past tense has no "s", and a verb that is the same in both tenses may be one."""
    noted = [from_user(f"{subject} {past} it.", "en") for past in PASTS]
    assert noted == [f"The user {past} it." for past in PASTS]


def test_what_is_over_for_the_assistant_stays_so_in_a_note() -> None:
    """The same verbs."""
    old = "The assistant sang."
    noted = [from_user(f"I {past} it.", "en", instead_of=old) for past in PASTS]
    assert noted == [f"The assistant {past} it." for past in PASTS]


@pytest.mark.parametrize(
    ("said", "note"), list(zip(PRESENTS[::2], PRESENTS[1::2], strict=True)), ids=PRESENTS[::2]
)
def test_what_is_so_agrees_in_a_note(said: str, note: str) -> None:
    """The third person of verbs in the present tense, known or not, and after an adverb."""
    assert from_user(f"I {said} here.", "en") == f"The user {note} here."
    assert from_user(f"I actually {said} here.", "en") == f"The user actually {note} here."


@pytest.mark.parametrize(
    ("language", "said", "note"),
    [
        ("en", "I put milk in my tea every day.", "The user puts milk in their tea every day."),
        ("en", "I can't swim and want to learn.", "The user can't swim and wants to learn."),
        ("en", "I won’t eat meat.", "The user won't eat meat."),
        ("en", "I’m ill.", "The user is ill."),
        ("en", "I'm ill and live here.", "The user is ill and lives here."),
        ("en", "I'll move to Faro.", "The user will move to Faro."),
        ("en", "You and your sister live here.", "The user and their sister live here."),
        ("en", "I rest because I'm ill.", "The user rests because they are ill."),
        ("en", "I said I was born in Faro.", "The user said they were born in Faro."),
        ("en", "I taught myself to read.", "The user taught themselves to read."),
        ("en", "I met Al. My dog liked him.", "The user met Al. Their dog liked him."),
        ("en", "I read about World War I.", "The user read about World War I."),
        ("en", "I know that you can sing.", "The user knows that they can sing."),
        ("zh", "我在学习自我管理。", "用户在学习自我管理。"),
        ("ja", "私の妹は医者だ。", "ユーザーの妹は医者だ。"),
        ("ja", "俺、猫が好きだ。", "ユーザーは猫が好きだ。"),
        ("ja", "私も猫が好きだ。", "ユーザーも猫が好きだ。"),
        ("ja", "私立大学に通う。", "ユーザーは私立大学に通う。"),
        ("ko", "내 여동생은 의사다.", "사용자의 여동생은 의사다."),
        ("ko", "당신은 서울에 산다.", "사용자는 서울에 산다."),
        ("ko", "난 배를 만들었다.", "사용자는 배를 만들었다."),
        ("ko", "나이 때문에 그만뒀다.", "사용자는 나이 때문에 그만뒀다."),
        ("vi", "Bạn gái tôi là bác sĩ.", "Bạn gái người dùng là bác sĩ."),
        ("vi", "Tôi sống một mình.", "Người dùng sống một mình."),
        ("vi", "Chúng tôi sống ở Huế.", "Chúng tôi sống ở Huế."),
        ("vi", "Con mèo của bạn tên Miu.", "Con mèo của người dùng tên Miu."),
    ],
)
def test_the_rest_of_a_correction_is_in_the_third_person(
    language: str, said: str, note: str
) -> None:
    """Pronouns become the user's, and words that only look like one stay."""
    assert from_user(said, language) == note


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("The user actually lives in Faro.", "You actually live in Faro."),
        ("The assistant built a plan.", "I built a plan."),
    ],
)
def test_adverbs_and_past_tenses_are_known_to_the_reader_too(note: str, said: str) -> None:
    """The verb after any adverb agrees."""
    assert to_user(note, "en") == said


@pytest.mark.parametrize(
    ("language", "notes", "said"),
    [
        ("en", "User is Ana. User has a cat.", "You are Ana. You have a cat."),
        ("zh", "用户住在上海。用户养了一只猫。", "你住在上海。你养了一只猫。"),
        (
            "ja",
            "ユーザーは大阪に住んでいる。ユーザーは猫を飼っている。",
            "大阪に住んでいる。猫を飼っている。",
        ),
        ("ko", "사용자는 부산에 산다. 사용자는 고양이를 키운다.", "부산에 산다. 고양이를 키운다."),
        ("vi", "Người dùng ở Huế. Người dùng nuôi mèo.", "Bạn ở Huế. Bạn nuôi mèo."),
    ],
)
def test_each_of_several_notes_speaks_to_the_person(language: str, notes: str, said: str) -> None:
    """As a memo has them, with whatever stands between them."""
    assert all_to_user(notes, language) == said
    assert all_to_user(f"{notes}\n\n{notes}", language) == f"{said}\n\n{said}"


@pytest.mark.parametrize(
    ("language", "note", "name"),
    [
        ("en", "The user, Nadia, restores books.", "Nadia"),
        ("en", "The user, now a nurse, lives in Oslo.", ""),
        ("zh", "用户（纳迪娅）从事旧书的修复。", "纳迪娅"),
        ("zh", "用户现在住在上海。", ""),
        ("zh", "用户和饼干住在波尔图。", ""),
        ("ja", "ユーザー（ナディア）は古い本を直す。", "ナディア"),
        ("ja", "ユーザーのモチは三毛猫だ。", ""),
        ("ko", "사용자(나디아)는 책을 복원한다.", "나디아"),
        ("ko", "사용자 어머니는 간호사다.", ""),
        ("vi", "Người dùng, Nadia, phục chế sách.", "Nadia"),
        ("vi", "Người dùng, trước đây, sống ở Huế.", ""),
    ],
)
def test_only_a_name_beside_the_user_is_the_users(language: str, note: str, name: str) -> None:
    """Not an adverb, a pet or a relative; and a name that is found is not said to its bearer."""
    assert apposed_name(note, language) == name
    if name:
        assert name not in to_user(note, language, name=name)
