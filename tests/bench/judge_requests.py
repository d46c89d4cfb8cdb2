"""What the judges of Wang et al. 2023 are asked, as text, in five languages.

python -m tests.bench.judge_requests        rewrites tests/bench/golden/judges/*.txt
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.language import LANGUAGES
from omoide.ports import Completion
from omoide_bench.judges.pairwise import Pair, PairJudge
from omoide_bench.judges.single import CRITERIA, ReplyCase, SingleJudge
from tests.unit.preset_requests import TALKS, shown

if TYPE_CHECKING:
    from omoide.ports import Request

GOLDEN = Path(__file__).parent / "golden" / "judges"


async def judged(language: str) -> str:
    """The requests of both judges for one reply, and for two."""
    talk = TALKS[language]
    asked: list[Request] = []

    async def ask(request: Request) -> Completion:
        asked.append(request)
        return Completion(text="{}", prompt_tokens=0, completion_tokens=0, seconds=0, finish="stop")

    known, dialogue = talk.prose, [f"A: {talk.asked}"]
    case = ReplyCase(known=known, dialogue=dialogue, reply=talk.event)
    await SingleJudge(ask=ask, language=language, criteria=CRITERIA).rate(case)
    pair = Pair(known=known, dialogue=dialogue, ours=talk.event, theirs=talk.summary)
    await PairJudge(ask=ask, language=language).compare(pair)
    return shown(sorted(asked, key=lambda request: [m.content for m in request.messages]))


def main() -> None:
    """Write the golden files."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for language in LANGUAGES:
        text = asyncio.run(judged(language))
        (GOLDEN / f"{language}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
