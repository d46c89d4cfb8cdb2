"""Recall: what comes to mind, of which kinds, from when, and in every language."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from omoide.adapters.stores.sqlite import SqliteStore
from omoide.documents import DocumentStore, MemoryDocuments
from omoide.domain import (
    Fact,
    FactChanges,
    MemoryKind,
    NewTurn,
    Origin,
    Owner,
    RecalledItem,
    Sentence,
    Speaker,
    Summary,
    Support,
    empty_summary,
)
from omoide.domain.event import Event
from omoide.domain.memo import Memo
from omoide.mechanisms.search.filter import RecallFilter
from omoide.mechanisms.search.gate import BUDGETS
from omoide.mechanisms.search.mechanism import SearchMechanism, _unrepeated
from omoide.mechanisms.search.merging import Found, merged
from omoide.mechanisms.search.recall import Recall
from omoide.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence

    from omoide.domain import RecallResult
    from omoide.ports import Store, Vectors

ANN = Owner(tenant="t", user="ann")
NOW = datetime(2023, 6, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)
TEXT = RecalledItem(
    kind=MemoryKind.TURN, id="a", text="a", score=0.0, sources=("a",), time=NOW, tokens=1
)


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    """An empty database in memory."""
    made = await SqliteStore.open(":memory:")
    yield made
    await made.close()


async def tell(store: Store, *texts: str, at: datetime = NOW - 30 * DAY, key: str = "s") -> None:
    """Say something, the user and the assistant by turns; a text is its own id."""
    said = [
        NewTurn(
            speaker=(Speaker.USER, Speaker.ASSISTANT)[i % 2],
            text=text,
            time=at + timedelta(minutes=i),
            id=text,
            language="en",
        )
        for i, text in enumerate(texts)
    ]
    await store.turns.append(ANN, said, session=key, idle=DAY)


async def embed(
    store: Store, kind: MemoryKind = MemoryKind.TURN, *, embedder: HashEmbedder | None = None
) -> HashEmbedder:
    """Give all items of a kind their vectors."""
    embedder = embedder or HashEmbedder()
    lack = await store.index.without_vector(ANN, embedder.space, limit=99, kind=kind)
    vectors = await embedder.embed([item.text for item in lack])
    ids = [item.id for item in lack]
    await store.index.put(ANN, embedder.space, ids=ids, vectors=vectors, kind=kind)
    return embedder


async def search(
    store: Store,
    query: str,
    *,
    embedder: HashEmbedder | None = None,
    summary: Summary | None = None,
    at: datetime = NOW,
    k: int = 10,
    budget: int | None = None,
    besides: Collection[str] = (),
    asker: Speaker = Speaker.USER,
) -> RecallResult:
    """What comes to Ann's mind."""
    return await Recall(store=store, embedder=embedder)(
        ANN,
        query,
        summary=summary or empty_summary(at),
        at=at,
        k=k,
        budget=budget,
        besides=besides,
        asker=asker,
    )


def texts(found: RecallResult) -> list[str]:
    """Of the items, best first."""
    return [item.text for item in found]


def version(*sentences: Sentence) -> Summary:
    """A version of the summary."""
    return Summary(
        number=1,
        sentences=sentences,
        origin=Origin.DIGEST,
        session=1,
        time=NOW,
        language="en",
        model="m",
        prompt="p",
        prompt_tokens=0,
        completion_tokens=0,
        seconds=0.0,
    )


@pytest.mark.parametrize("with_vectors", [True, False])
async def test_the_answer_beside_the_question_is_found(
    store: SqliteStore, with_vectors: bool
) -> None:
    """A turn that shares no word with the query is found by the turn before it."""
    await tell(store, "Nice weather today, I think.", "It is.", key="other")
    await tell(store, "I am tired.", "How did the kayak trip go?", "Wonderful, we saw two otters.")
    embedder = await embed(store) if with_vectors else None
    found = await search(store, "How did my kayak trip go?", embedder=embedder)
    assert "Wonderful, we saw two otters." in texts(found)[:2]


async def test_turns_not_yet_embedded_are_found(store: SqliteStore) -> None:
    """What was said a moment ago comes to mind by its words, beside what has vectors."""
    await tell(store, "The cat is called Miso.", "Cute!", "We live by the river.")
    embedder = await embed(store)
    await tell(store, "My parrot is called Rio.", key="new")
    found = await search(store, "What is my parrot called?", embedder=embedder)
    assert texts(found)[0] == "My parrot is called Rio."


async def test_the_speaker_who_is_meant(store: SqliteStore) -> None:
    """Of two equal turns the one by whom the query is about comes first, from the asker's side."""
    await tell(store, "The harbour has good fish.", "The harbour has good fish, yes.")
    mine, yours = "The harbour has good fish.", "The harbour has good fish, yes."
    assert texts(await search(store, "What did I say about the harbour?"))[0] == mine
    assert texts(await search(store, "What did you say about the harbour?"))[0] == yours
    asked = await search(store, "What did you say about the harbour?", asker=Speaker.ASSISTANT)
    assert texts(asked)[0] == mine


async def test_days_that_are_named(store: SqliteStore) -> None:
    """A day in the query finds what was said then, and what was said of it later."""
    for days in (100, 60, 20):
        await tell(store, f"We cooked together {days}.", at=NOW - days * DAY, key=str(days))
    await tell(store, "On 16 March 2023 we all danced.", at=NOW - 5 * DAY, key="later")
    assert texts(await search(store, "What did we do on 25 May?"))[0] == "We cooked together 20."
    found = texts(await search(store, "What happened on 16 March 2023?"))
    assert found[0] == "On 16 March 2023 we all danced."


async def test_a_month_without_a_year_is_the_one_that_was_meant(store: SqliteStore) -> None:
    """A plan is found by the month to come, what was done by the month that is over."""
    await tell(store, "We will fly to Tokyo in October.", "I planted tulips in October.")
    best = [texts(await search(store, f"October {year}?"))[0] for year in (2023, 2022)]
    assert best == ["We will fly to Tokyo in October.", "I planted tulips in October."]


async def test_nothing_from_the_future_nor_twice(store: SqliteStore) -> None:
    """What was said later, or is in the prompt already, is left out before anything is ranked."""
    await tell(store, "tea one", at=NOW - 9 * DAY, key="a")
    await tell(store, "tea two", at=NOW - 5 * DAY, key="b")
    await tell(store, "tea three", at=NOW - DAY, key="c")
    assert texts(await search(store, "tea", at=NOW - 4 * DAY, k=2)) == ["tea two", "tea one"]
    assert texts(await search(store, "tea", k=2, besides=["tea three"])) == ["tea two", "tea one"]
    alone = await search(store, "tea", at=NOW - 8 * DAY)
    assert alone[0].score == (await search(store, "tea", at=NOW - 8 * DAY))[0].score


async def test_nothing_relevant_without_an_embedder(store: SqliteStore) -> None:
    """By words alone, what shares none does not come up; support says that nothing is known."""
    await tell(store, "My cat is called Miso.", "A lovely name.")
    found = await search(store, "volcano eruption")
    assert not found
    assert found.support.known < 0.1
    assert (await search(store, "What is my cat called?")).support.best > found.support.best
    await store.archive.erase(ANN)
    assert await search(store, "cat") == ()


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("我住在北京市朝阳区", "北京"),
        ("昨日は東京タワーに行きました", "東京"),
        ("すしが好きです", "すし"),
        ("저는 서울에 살아요", "서울"),
        ("Tôi thích ăn phở bò", "phở"),
        ("Tôi thích ăn phở bò", "pho bo"),
        ("Nhà tôi ở Đà Nẵng", "da nang"),
    ],
)
async def test_short_queries_in_every_language(store: SqliteStore, said: str, query: str) -> None:
    """Two characters find their turn, and Vietnamese is found with and without diacritics."""
    await tell(store, "The weather is fine.", said, "再见", "はい", "네", "Vâng", key="x")
    assert texts(await search(store, query))[0] == said


TWO_QUESTIONS = [
    (
        "My aunt Ida plays chess on Sundays.",
        "The workshop on glass blowing and stained windows takes place in the old brewery.",
        "Where is the workshop on glass blowing and stained windows? And what does Ida play?",
    ),
    (
        "婶婶平时喜欢下象棋。",
        "探讨医疗行业前沿技术、分享临床经验的研讨会在旧啤酒厂举行。",
        "探讨医疗行业前沿技术、分享临床经验的研讨会在哪里举行？另外，婶婶平时喜欢什么？",
    ),
    (
        "伯母は日曜日に将棋を指します。",
        "ガラス工芸とステンドグラスの体験講座は古い醸造所で開かれます。",
        "ガラス工芸とステンドグラスの体験講座はどこで開かれますか？あと、伯母は何を指しますか？",
    ),
    (
        "이모는 일요일마다 장기를 둬요.",
        "유리공예와 스테인드글라스 체험 강좌는 오래된 양조장에서 열려요.",
        "유리공예와 스테인드글라스 체험 강좌는 어디에서 열려요? 그리고 이모는 무엇을 둬요?",
    ),
    (
        "Dì Lan chơi cờ vào chủ nhật.",
        "Lớp học thổi thủy tinh và kính màu diễn ra ở nhà máy bia cũ.",
        "Lớp học thổi thủy tinh và kính màu diễn ra ở đâu? Còn dì Lan chơi gì?",
    ),
]


@pytest.mark.parametrize(("short", "long", "query"), TWO_QUESTIONS)
async def test_each_question_of_a_message_is_answered(
    store: SqliteStore, short: str, long: str, query: str
) -> None:
    """What answers the shorter one is hardly behind. By the words of both together it was up to 5
    log odds behind, and a small model is shown nothing that is 4 behind."""
    await tell(store, short, "Good.", key="a")
    await tell(store, long, "Good.", key="b")
    await tell(store, "So it is.", "Good.", key="c")
    first, second, *_ = await search(store, query)
    assert {first.text, second.text} == {short, long}
    assert first.score - second.score < 1.5


def test_a_question_that_memory_knows_nothing_about_takes_no_room() -> None:
    """Its items weigh as much as memory is likely to know anything about it."""

    def found(known: float, *names: str) -> Found:
        items = [
            replace(TEXT, id=name, text=name, score=5.0 - position)
            for position, name in enumerate(names)
        ]
        support = Support(best=5.0, known=known, mismatch=0.0)
        return Found(items=items, over=(), support=support, degraded="")

    whole, first, second = found(0.9, "a", "b", "c"), found(0.9, "a", "b"), found(0.01, "c", "d")
    ranked = merged([whole, first, second])
    assert [item.id for item in ranked] == ["a", "b", "c", "d"]
    assert ranked[0].score == pytest.approx(5.0)
    assert ranked[-1].score < 5.0 - BUDGETS["small"].far
    assert merged([found(0.9), found(0.1)]) == []


ECHOES = [
    ("我在Google工作了3年。", "Google！真不错。", "Google"),
    ("我养了一只猫，它的名字叫米粒", "米粒真可爱！", "米粒"),
    ("I have been at Google for three years, in the maps team.", "Google is great!", "Google"),
    ("My sister Nora moved to Lisbon and works as a nurse.", "Nora in Lisbon!", "Nora, Lisbon"),
    ("昨日、友達とリスボンに行って魚を食べました", "リスボンはいいですね！", "リスボン"),
    ("저는 구글에서 3년 동안 일했고 지금은 쉬고 있어요", "구글에서 3년이라니 대단해요!", "구글"),
    ("Tôi làm việc ở Google được 3 năm rồi", "Google là nơi tuyệt vời!", "Google"),
    ("Tôi chuyển đến Đà Nẵng năm ngoái cùng gia đình", "Đà Nẵng đẹp lắm!", "Da Nang"),
]


@pytest.mark.parametrize("with_vectors", [True, False])
@pytest.mark.parametrize("later", [False, True], ids=["at once", "later"])
@pytest.mark.parametrize(("said", "echo", "query"), ECHOES)
async def test_what_the_user_said_comes_before_its_echo(
    store: SqliteStore, said: str, echo: str, query: str, later: bool, with_vectors: bool
) -> None:
    """Though the assistant's reply is shorter, and so nearer to a query of a word or a name."""
    between = ("Good morning", "Hello", "I like tea", "Green or black") if later else ()
    await tell(store, "It is raining", "Take care", said, *between[1:], *between[:1], echo)
    embedder = await embed(store) if with_vectors else None
    found = texts(await search(store, query, embedder=embedder))
    assert found[0] == said
    assert echo in found


@pytest.mark.parametrize("with_vectors", [True, False])
async def test_what_only_the_assistant_said_is_found(
    store: SqliteStore, with_vectors: bool
) -> None:
    """By its word; and what it repeated, by a question about its replies."""
    echo = "Lisbon is lovely, I suggest the tram 28!"
    await tell(store, "I am off to Lisbon in May with all of my family", echo)
    await tell(store, "Where can I eat?", "At Da Mario", "Thanks", "Enjoy", key="s2")
    embedder = await embed(store) if with_vectors else None
    assert texts(await search(store, "Mario", embedder=embedder))[0] == "At Da Mario"
    asked = "What did you suggest for Lisbon?"
    assert texts(await search(store, asked, embedder=embedder))[0] == echo


async def test_diacritics_that_differ_do_not_match(store: SqliteStore) -> None:
    """Typed with diacritics, a word finds only those who have the same."""
    await tell(store, "Má tôi ở nhà.", "Con ma này đáng sợ.")
    found = await search(store, "má")
    assert texts(found)[0] == "Má tôi ở nhà."


async def test_summary_sentences_stand_by_their_sources(store: SqliteStore) -> None:
    """A sentence comes with the turns it rests on, ahead of them where its words fit better."""
    await tell(store, "Miso scratched the sofa again.", "Oh no.")
    known = version(
        Sentence(text="User has a cat.", about=None, sources=("Miso scratched the sofa again.",)),
        Sentence(text="User likes jazz.", about=None, sources=()),
    )
    found = await search(store, "Does the user have a cat?", summary=known)
    assert found[0].kind is MemoryKind.SENTENCE
    assert found[0].text == "User has a cat."
    assert found[0].sources == ("Miso scratched the sofa again.",)
    assert "User likes jazz." not in texts(found)


@pytest.mark.parametrize("with_vectors", [True, False])
async def test_events_and_memos_join(store: SqliteStore, with_vectors: bool) -> None:
    """Events and memos come to mind with their sources, unless they were written later."""
    await tell(store, "Kickboxing wears me out.", "Keep going!", "The sofa is blue.")
    rest = {"session": 1, "sources": ("Kickboxing wears me out.",)}
    await store.events.add(
        ANN,
        [
            Event(id="e", text="User does a martial art.", time=NOW, last_recalled=NOW, **rest),  # type: ignore[arg-type]
            Event(id="l", text="A martial art.", time=NOW + DAY, last_recalled=NOW, **rest),  # type: ignore[arg-type]
        ],
    )
    memo = Memo(
        id="m",
        session=1,
        topic="Martial sport",
        summary="User trains.",
        sources=("Kickboxing wears me out.",),
        time=NOW,
        compressed="",
        method="none",
    )
    await store.memos.add(ANN, [memo])
    embedder = None
    if with_vectors:
        for kind in (MemoryKind.EVENT, MemoryKind.MEMO, MemoryKind.TURN):
            embedder = await embed(store, kind)
    found = await search(store, "Which martial art do I do?", embedder=embedder, k=3)
    assert {item.kind for item in found[:2]} == {MemoryKind.EVENT, MemoryKind.MEMO}
    assert all(item.sources == ("Kickboxing wears me out.",) for item in found[:2])
    assert "A martial art." not in texts(found)
    assert "User does a martial art." in texts(found)


async def test_a_budget_passes_over_what_is_too_long(store: SqliteStore) -> None:
    """The best item that does not fit makes way for shorter ones."""
    await tell(store, f"tea {'and cake ' * 60}", "tea please")
    assert texts(await search(store, "tea", budget=20)) == ["tea please"]


async def test_a_shorter_turn_comes_in_place_of_those_that_are_too_long(store: SqliteStore) -> None:
    """Also if none of the `k` best fits: the next ones are looked at, up to some depth."""
    for n in range(4):
        await tell(store, "tea tea tea " + f"and much more {n} " * 30, key=f"long {n}")
    await tell(store, "tea please", key="short")
    assert len((await search(store, "tea", k=1))[0].text) > 100
    assert texts(await search(store, "tea", k=1, budget=20)) == ["tea please"]
    assert texts(await search(store, "tea", k=2, budget=20)) == ["tea please"]
    enough = await search(store, "tea", k=2, budget=2000)
    assert texts(enough) == texts(await search(store, "tea", k=2))


@pytest.mark.parametrize("with_vectors", [True, False])
async def test_the_best_are_the_first_of_all_and_newer_ones_win_ties(
    store: SqliteStore, with_vectors: bool
) -> None:
    """However many are asked for: fewer than there are, as many, or more."""
    for n in range(4):  # equal in all that counts
        await tell(store, f"tea {'abcd'[n]}", key=f"equal {n}", at=NOW - (30 - n) * DAY)
    for n in range(3):
        await tell(store, "tea " * (n + 2), key=f"more {n}", at=NOW - 50 * DAY)
    embedder = await embed(store) if with_vectors else None
    ranked = await search(store, "tea", k=99, embedder=embedder)
    assert len(ranked) == 7
    scores = [item.score for item in ranked]
    assert scores == sorted(scores, reverse=True)
    for k in range(1, 9):
        some = await search(store, "tea", k=k, embedder=embedder)
        assert texts(some) == texts(ranked)[:k]
    if not with_vectors:
        letters = [text[-1] for text in texts(ranked) if text[-1] in "abcd"]
        assert letters == ["d", "c", "b", "a"]


async def test_a_few_of_very_many_are_the_best_of_all(store: SqliteStore) -> None:
    """Also where not all turns are put in order to find them."""
    for n in range(150):
        key = f"s{n % 10}"
        await tell(store, f"{'tea ' * (n * 37 % 11)}word{n}", key=key, at=NOW - (200 - n) * DAY)
    ranked = texts(await search(store, "tea", k=150))
    assert len(ranked) > 100
    for k in (1, 2, 3, 4, 5):
        assert texts(await search(store, "tea", k=k)) == ranked[:k]


SHORT: dict[str, tuple[tuple[str, ...], dict[str, int]]] = {
    "zh": (("我家养了一只猫。", "昨天在上海看了电影。", "早饭吃了面包。"), {"猫": 0, "上海": 1}),
    "ja": (("うちの犬は七歳です。", "来週、京都へ行きます。", "朝はパン。"), {"犬": 0, "京都": 1}),
    "ko": (
        ("아침에 빵을 먹었어요.", "주말에 부산에 가요.", "고양이."),
        {"빵": 0, "부산": 1},
    ),
    "vi": (("Sáng nay tôi ăn phở.", "Tôi sống ở Huế.", "Con mèo ngủ."), {"Huế": 1, "hue": 1}),
}


@pytest.mark.parametrize("language", SHORT)
async def test_queries_of_one_and_two_characters(store: SqliteStore, language: str) -> None:
    """One or two characters are enough to find the turn, and the sentence that rests on it."""
    told, queries = SHORT[language]
    for i, text in enumerate(told):
        await tell(store, text, key=str(i))
    known = version(*(Sentence(text=text, about=None, sources=(text,)) for text in told))
    for query, place in queries.items():
        found = await search(store, query, summary=known)
        assert {item.text for item in found} == {told[place]}, query
        assert [item.kind for item in found if item.kind is MemoryKind.TURN] == [MemoryKind.TURN]
        if language != "vi":
            assert {item.kind for item in found} == {MemoryKind.TURN, MemoryKind.SENTENCE}


async def test_a_word_of_one_character_before_another_particle(store: SqliteStore) -> None:
    """A noun of one character is found whatever stands behind it here and there."""
    await tell(store, "うちの猫はミソといいます。", key="a")
    await tell(store, "明日は雨らしいね。", key="b")
    assert texts(await search(store, "猫の名前は？"))[0] == "うちの猫はミソといいます。"
    await tell(store, "我养了一只狗，它很胖。", key="c")
    assert texts(await search(store, "你的狗叫什么名字"))[0] == "我养了一只狗，它很胖。"


async def test_an_event_of_a_fact_that_comes_to_mind_stays_out(store: SqliteStore) -> None:
    """It says the same; an event that states no such fact comes too."""
    await tell(store, "Miso scratched the sofa again.", "Oh no.")
    cat = Fact(id="f", about="user", text="User has a cat.", said=NOW - DAY, learned=NOW - DAY)
    await store.facts.apply(ANN, FactChanges(added=(cat,)))
    same = Event(
        id="e", session=1, text="User has a cat.", time=NOW, last_recalled=NOW, fact="f", sources=()
    )
    other = replace(same, id="o", text="User fed the cat.", fact="")
    await store.events.add(ANN, [same, other])
    found = await search(store, "Does the user have a cat?")
    kinds = {item.id: item.kind for item in found}
    assert kinds == {"f": MemoryKind.FACT, "o": MemoryKind.EVENT}


class PlantedEmbedder(HashEmbedder):
    """Texts have the cosine with any other text that stands at their end."""

    def __init__(self) -> None:
        super().__init__(dimensions=2)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The first axis is that of the query."""
        cosines = np.array([float(text.split()[-1]) for text in texts], np.float32)
        vectors: Vectors = np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1)
        return vectors


async def test_a_fact_is_near_by_the_measure_of_the_turns(store: SqliteStore) -> None:
    """Where all turns have nearly the same cosine, a fact a little above them stands out."""
    await tell(store, *(f"said {n} 0.{n}" for n in range(700, 720)))
    near = Fact(id="near", about="user", text="known 0.75", said=NOW - DAY, learned=NOW - DAY)
    far = replace(near, id="far", text="known 0.65")
    await store.facts.apply(ANN, FactChanges(added=(near, far)))
    for kind in (MemoryKind.TURN, MemoryKind.FACT):
        embedder = await embed(store, kind, embedder=PlantedEmbedder())
    found = await search(store, "1", embedder=embedder, k=30)
    ranks = [item.id for item in found]
    assert ranks[0] == "near"
    assert ranks[-1] == "far"


async def test_a_store_that_keeps_no_features_recalls_the_same(store: SqliteStore) -> None:
    """They are worked out from the texts."""
    documents = DocumentStore(MemoryDocuments())
    found = []
    for one in (store, documents):
        await tell(
            one, "Which day suits you?", "Friday the 9th of June.", "I adopted a cat.", "Oh!"
        )
        queries = ("What did I do on June 9th?", "Did I adopt a cat?", "Which day?")
        results = [await search(one, query) for query in queries]
        found.append([[(item.id, round(item.score, 4)) for item in r] for r in results])
    assert found[0] == found[1]
    assert all(found[0])
    await documents.close()


@pytest.mark.parametrize(
    ("name", "query", "by_meaning"),
    [
        ("use-multilingual", "What is my cat called?", True),
        ("use-multilingual", "我的猫叫什么名字？", True),
        ("use-multilingual", "Con mèo của tôi tên là gì?", False),
        ("gte-small-memory", "What is my cat called?", True),
        ("gte-small-memory", "私の猫の名前は何ですか？", False),
        ("an-endpoint", "Con mèo của tôi tên là gì?", True),
    ],
)
async def test_a_language_that_the_embedder_cannot_read_is_searched_by_words(
    store: SqliteStore, name: str, query: str, *, by_meaning: bool
) -> None:
    """Its vectors of such texts are all alike: they would only hide what the words tell. That holds
    for facts as for turns."""
    await tell(store, query.replace("?", "."), "Hello.")
    fact = Fact(id="f", about="user", text="Kettle.", said=NOW - DAY, learned=NOW - DAY)
    await store.facts.apply(ANN, FactChanges(added=(fact,)))
    embedder = HashEmbedder(name=name)
    vectors = await embedder.embed([query, "Hello."])
    await store.index.put(
        ANN, embedder.space, ids=[query.replace("?", "."), "Hello."], vectors=vectors
    )
    await store.index.put(ANN, embedder.space, ids=["f"], vectors=vectors[:1], kind=MemoryKind.FACT)
    found = await Recall(store=store, embedder=embedder)(
        ANN, query, summary=empty_summary(NOW), at=NOW, k=3
    )
    assert query.replace("?", ".") in texts(found)[:2]
    assert ("Kettle." in texts(found)) is by_meaning
    assert (found.support.cosine is not None) is by_meaning


def test_the_days_asked_for_include_their_bounds() -> None:
    """What was said at the very first or last moment may be returned; a moment outside, not."""
    moment, second = datetime(2026, 1, 5, 12, tzinfo=UTC), timedelta(seconds=1)
    filter_ = RecallFilter(since=moment, until=moment + second)
    times = [moment - second, moment, moment + second, moment + 2 * second]
    assert [filter_.admits(time) for time in times] == [False, True, True, False]


def test_what_a_longer_text_says_is_not_repeated() -> None:
    """A sentence that is part of another is left out; a word or two, such as an answer, stays."""
    time = datetime(2026, 1, 5, tzinfo=UTC)
    texts = ["We moved to Oslo, and I like it there.", "I like it there!", "Oslo.", "In Bergen."]
    items = [
        RecalledItem(kind=MemoryKind.TURN, text=t, score=1.0, sources=(t,), time=time, tokens=1)
        for t in texts
    ]
    kept = [item.text for item in _unrepeated(items, {"in bergen"})]
    assert kept == [texts[0], "Oslo."]


def test_a_budget_may_be_used_up_to_its_last_token() -> None:
    """An item that takes all that is left still fits; a longer one is skipped for the next."""
    time = datetime(2026, 1, 5, tzinfo=UTC)
    sizes = [4, 7, 6, 1]
    items = [
        RecalledItem(kind=MemoryKind.TURN, text="x", score=1.0, sources=("x",), time=time, tokens=n)
        for n in sizes
    ]
    budget = replace(BUDGETS["small"], tokens=10, items=3)
    search = SearchMechanism(cast("Recall", None), budget=budget)
    assert [item.tokens for item in search._fitting(iter(items), "x")] == [4, 6]


@pytest.mark.parametrize("embedder", [None, HashEmbedder()])
async def test_a_named_day_finds_what_was_said_within_a_month_of_it(
    store: SqliteStore, embedder: HashEmbedder | None
) -> None:
    """Without a word in common, before it and after it, the nearest first. With vectors all turns
    are compared, so the day only decides which come first."""
    day = datetime(2023, 3, 1, 12, tzinfo=UTC)
    far = {"-31": -31, "-29": -29, "-3": -3, "1": 1, "28": 28, "31": 31}
    for name, days in far.items():
        await tell(store, f"Kettle {name}.", at=day + days * DAY, key=name)
    if embedder is not None:
        await embed(store, embedder=embedder)
    found = texts(await search(store, "What did we do on 1 March 2023?", embedder=embedder))
    near = ["Kettle 1.", "Kettle -3.", "Kettle 28.", "Kettle -29."]
    assert found[: len(near)] == near
    if embedder is None:
        assert found == near
