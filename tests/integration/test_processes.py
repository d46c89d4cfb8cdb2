"""What only a process of its own shows: what an import loads, and what a killed one leaves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.server.test_waiting import broken, mend


def test_importing_omoide_reads_no_pack() -> None:
    """Packs are read when a language is first needed."""
    code = "import sys, omoide; from omoide.language.pack import _packs; sys.exit(len(_packs))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_off_means_not_even_imported() -> None:
    """Opening and using a memory does not load OpenTelemetry."""
    program = (
        "import sys, omoide, omoide.engine.runtime, omoide.bootstrap as b\n"
        "from omoide.settings import Settings\n"
        "b.make_telemetry(Settings())\n"
        "print(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.server.test_waiting import broken

async def main():
    async with broken(Path(sys.argv[1])) as bench:
        print((await bench.chat("Killed"))
              .headers["x-omoide-stored"], flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_words_survive_kill_9(tmp_path: Path) -> None:
    """The process was killed right after it had answered that they wait."""
    root = str(Path(__file__).parents[2])
    died = subprocess.run(  # noqa: ASYNC221 - nothing else runs
        [sys.executable, "-c", KILLED, str(tmp_path), root], capture_output=True, check=False
    )
    assert died.returncode == -9, died.stderr.decode()
    assert died.stdout.decode().strip() == "waiting"
    async with broken(tmp_path) as bench:
        mend(bench)
        assert await bench.said() == ["Killed", "I see."]
        await bench.server.runtime.exchanges.waiting.replay()
        assert await bench.said() == ["Killed", "I see."]
