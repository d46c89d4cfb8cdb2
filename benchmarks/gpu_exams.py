"""`omoide bench …` with the skills of a model answered by several servers of `gpu_server.py`.

    python benchmarks/gpu_server.py MODEL.gguf --port 8000 &
    python benchmarks/gpu_server.py MODEL.gguf --adapter FACTS.gguf --port 8001 &
    OMOIDE_MODEL=skills:8000,facts=8001 OMOIDE_GRAMMAR=1 OMOIDE_PROFILE=small \
        python benchmarks/gpu_exams.py run stories --out stories.json

The embedded model switches adapters by request; a server of `gpu_server.py` has one merged into
its weights. Here a request goes to the server that claims its skill in its language (`reply-ko`),
then to the one that claims it in any, and otherwise to the first, so that the product asks as it
asks the embedded default. The model is a plug-in, declared in a folder of its own for this process.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from omoide.bootstrap import chat_model

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from omoide.ports import ChatModel, Completion, Request
    from omoide.settings import Settings

_DECLARED = "[omoide.models]\nskills = gpu_exams:skill_servers\n"


class SkillServers:
    """One model whose skills are answered by several servers."""

    def __init__(self, plain: ChatModel, skilled: Mapping[str, ChatModel]) -> None:
        self._plain, self._skilled = plain, skilled
        self.name, self.window = plain.name, plain.window

    def author(self, request: Request) -> str:
        """See `ports.AuthoredModel`."""
        skill = self._skill(request)
        return f"{self.name}+{skill}" if skill else self.name

    async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
        """The answer of the server that claims the request's skill."""
        model = self._skilled.get(self._skill(request), self._plain)
        async with aclosing(model.stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def count(self, text: str) -> int:
        """An estimate."""
        return await self._plain.count(text)

    async def close(self) -> None:
        """Close the connections to all servers."""
        for model in (self._plain, *self._skilled.values()):
            await model.close()

    def _skill(self, request: Request) -> str:
        """What of this request's skill a server claims; an answer counts as a reply if none claims
        answers."""
        asked = [str(request.skill)] if request.skill else []
        asked += ["reply"] if asked == ["answer"] else []
        names = [name for one in asked for name in (f"{one}-{request.language}", one)]
        return next((name for name in names if name in self._skilled), "")


def skill_servers(spec: str, settings: Settings) -> SkillServers:
    """The plug-in: `skills:PORT,SKILL=PORT,…`."""
    first, *others = spec.partition(":")[2].split(",")

    def at(port: str) -> ChatModel:
        return chat_model(settings, f"http://127.0.0.1:{port}/v1#model", whole=True)

    ports = dict(one.split("=") for one in others)
    return SkillServers(at(first), {skill: at(port) for skill, port in ports.items()})


def main() -> None:
    """Declare the plug-in, and run the benchmark of the command line."""
    with tempfile.TemporaryDirectory() as folder:
        declared = Path(folder) / "gpu_exams-0.dist-info"
        declared.mkdir()
        (declared / "METADATA").write_text("Metadata-Version: 2.1\nName: gpu-exams\nVersion: 0\n")
        (declared / "entry_points.txt").write_text(_DECLARED)
        sys.path[:0] = [folder, str(Path(__file__).parent)]

        from omoide_bench.cli import bench

        bench()


if __name__ == "__main__":
    main()
