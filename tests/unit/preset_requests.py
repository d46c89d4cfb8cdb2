"""Everything that a paper's preset asks a model for one small dialogue, as text, in five languages.

    python -m tests.unit.preset_requests        rewrites tests/unit/golden/presets/*/*.txt

Read the difference before you commit it: each line is what a paper's method shows the model.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from omoide import Utterance
from omoide.adapters.analysers import analyser_for
from omoide.adapters.stores.sqlite import SqliteStore
from omoide.domain import Speaker
from omoide.engine import Runtime, complete
from omoide.mechanisms.memos import TextTools
from omoide.presets import DEFAULT, PRESETS
from omoide.settings import Settings
from omoide.testing import FrozenClock, HashEmbedder, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.ports import Request

PAPERS = tuple(name for name in PRESETS if name != DEFAULT)
GOLDEN = Path(__file__).parent / "golden" / "presets"
START = datetime(2026, 3, 5, 19, 30, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Talk:
    """Two sessions, a question in a third, and what a model makes of them."""

    sessions: tuple[tuple[str, str], ...]
    asked: str
    topic: str
    summary: str
    event: str
    label: str
    user: str
    prose: str


TALKS = {
    "en": Talk(
        sessions=(
            ("I moved to Leeds with my dog Rusty.", "How does Rusty like Leeds?"),
            ("Rusty hurt his paw, so I am not going running.", "Oh no! Give him a treat from me."),
        ),
        asked="When will I go running with Rusty again?",
        topic="the dog Rusty",
        summary="User has a dog.",
        event="User will go running with Rusty again.",
        label="running",
        user="User",
        prose="The user has a dog called Rusty. The user moved to Leeds.",
    ),
    "zh": Talk(
        sessions=(
            ("我带着我的狗小黄搬到了成都。", "小黄喜欢成都吗？"),
            ("小黄的爪子受伤了，所以我不去跑步。", "哎呀！替我给它一点零食。"),
        ),
        asked="我什么时候能再和小黄一起去跑步？",
        topic="小狗小黄",
        summary="用户有一只狗。",
        event="用户什么时候能再和小黄一起去跑步。",
        label="跑步",
        user="用户",
        prose="用户有一只叫小黄的狗。用户搬到了成都。",
    ),
    "ja": Talk(
        sessions=(
            ("犬のポチと仙台に引っ越しました。", "ポチは仙台を気に入っていますか。"),
            ("ポチが足をけがしたので、散歩に行きません。", "それは大変。おやつをあげてください。"),
        ),
        asked="ポチとまた散歩に行けるのはいつですか。",
        topic="犬のポチ",
        summary="ユーザーは犬を飼っている。",
        event="ユーザーがポチとまた散歩に行けるのはいつか。",
        label="散歩",
        user="ユーザー",
        prose="ユーザーはポチという犬を飼っている。ユーザーは仙台に引っ越した。",
    ),
    "ko": Talk(
        sessions=(
            ("강아지 초코와 함께 대전으로 이사했어요.", "초코는 대전을 좋아하나요?"),
            ("초코가 발을 다쳐서 산책을 안 가요.", "저런! 간식 하나 주세요."),
        ),
        asked="언제 다시 초코와 산책을 갈 수 있을까요?",
        topic="강아지 초코",
        summary="사용자는 강아지를 키운다.",
        event="사용자는 다시 초코와 산책을 갈 수 있을까요 언제.",
        label="산책",
        user="사용자",
        prose="사용자는 초코라는 강아지를 키운다. 사용자는 대전으로 이사했다.",
    ),
    "vi": Talk(
        sessions=(
            ("Tôi chuyển đến Huế cùng chó Mực.", "Mực có thích Huế không?"),
            ("Mực bị đau chân nên tôi không đi chạy.", "Ôi! Cho nó ít bánh giúp tôi nhé."),
        ),
        asked="Khi nào tôi lại đi chạy cùng Mực?",
        topic="chó Mực",
        summary="Người dùng có một con chó.",
        event="Người dùng khi nào lại đi chạy cùng Mực.",
        label="chạy",
        user="Người dùng",
        prose="Người dùng có con chó tên Mực. Người dùng chuyển đến Huế.",
    ),
}

VARIANTS: Mapping[str, Mapping[str, object]] = {
    "context": {"mechanisms": ("context",), "reply_form": "context"},
    "bm25": {"mechanisms": ("bm25",), "reply_form": "retrieval"},
    "dense": {"mechanisms": ("dense",), "reply_form": "retrieval"},
    "bm25+summary": {"mechanisms": ("bm25", "summary"), "reply_form": "retrieval+memory"},
    "context+summary": {"mechanisms": ("context", "summary"), "reply_form": "retrieval+memory"},
    "2-shot": {"reply_form": "2-shot"},
    "3-shot": {"reply_form": "3-shot"},
    "session": {"mechanisms": ("session",)},
}
"""The baselines and worked examples of Wang et al., as settings beside their preset."""


def answers(talk: Talk, events: int) -> Mapping[str, object]:
    """What the model answers where a schema asks for one of these."""
    event = {"topics": [talk.topic], "keywords": [talk.label], "participants": [talk.user]}
    many = [talk.event, *(f"{talk.event} ({n})" for n in range(2, events + 1))]
    memo = {"topic": talk.topic, "start": 1, "end": 2, "summary": talk.summary}
    return {
        "memos": [memo],
        "numbers": [1],
        "events": [{"text": text, **event} for text in many],
        "ratings": [5 if events == 1 else 10] * events,
        "insights": [{"text": talk.summary, "because": [1, 2]}],
    }


async def requests_of(
    preset: str,
    language: str = "en",
    *,
    events: int = 1,
    changed: Mapping[str, object] | None = None,
) -> list[Request]:
    """The requests, in order: for two sessions and for a reply in a third. `changed` are settings
    beside the preset. `events` is how many the model finds in each session; with more than one they
    matter much, and it reflects."""
    talk = TALKS[language]
    known = answers(talk, events)

    def answer(request: Request) -> str:
        """A fitting answer: JSON if a schema asks for it, prose otherwise."""
        asked = (request.schema or {}).get("properties")
        if not isinstance(asked, dict):
            return talk.prose
        return json.dumps({name: known[name] for name in asked}, ensure_ascii=False)

    model = ScriptedModel([answer] * 40)
    clock = FrozenClock()
    settings = Settings.of(preset, timezone="UTC", user_name="Ana", **(changed or {}))
    store = await SqliteStore.open(":memory:")
    runtime = Runtime(
        settings,
        store=store,
        clock=clock,
        model=model,
        embedder=HashEmbedder(name="use-multilingual", version="3"),
        text_tools=TextTools(analyser=analyser_for),
        owns=[store],
    )
    memory = runtime.memory()
    for number, (said, replied) in enumerate(talk.sessions):
        clock.time = START + timedelta(days=number)
        exchange = [
            Utterance(speaker=Speaker.USER, text=said, id=f"user-{number}"),
            Utterance(speaker=Speaker.ASSISTANT, text=replied, id=f"assistant-{number}"),
        ]
        await memory.record("ana", exchange, session=str(number))
        await memory.end_session("ana")
        await memory.run_jobs()
    clock.time = START + timedelta(days=1, hours=2)
    async with memory.exchange("ana", talk.asked, session="now") as asking:
        assert asking.context is not None
        request = asking.context.request(window=settings.window)
        await complete(model, request)
        await asking.finish("", record=False)
    await runtime.close()
    return model.requests


async def golden(language: str) -> Mapping[str, str]:
    """The golden files of a language, by name: each preset; the replies of Wang et al.'s variants;
    the reflection of Generative Agents."""
    files = {name: shown(await requests_of(name, language)) for name in PAPERS}
    variants = []
    for name, fields in VARIANTS.items():
        reply = (await requests_of("wang2023", language, changed=fields))[-1]
        variants.append(f"########## {name}\n{shown([reply])}")
    files["wang2023-variants"] = "\n".join(variants)
    reflecting = await requests_of("generative-agents", language, events=8)
    files["generative-agents-reflection"] = shown(
        [request for request in reflecting if "insights" in str(request.schema)]
    )
    return files


def shown(requests: Sequence[Request]) -> str:
    """Requests as text: how each is asked, then its messages."""
    return "\n".join(map(_shown, requests))


def _shown(request: Request) -> str:
    head = f"##### temperature {request.temperature:g}, penalty {request.frequency_penalty:g}"
    asked = (request.schema or {}).get("properties")
    form = f", JSON: {', '.join(asked)}" if isinstance(asked, dict) else ""
    messages = [f"=== {message.role}\n{message.content}" for message in request.messages]
    return "\n".join([head + form, *messages, ""])


def main() -> None:
    """Write the golden files."""
    for language in TALKS:
        folder = GOLDEN / language
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in asyncio.run(golden(language)).items():
            (folder / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
