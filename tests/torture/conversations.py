"""Random conversations through the proxy, step by step, and after each step what is stored."""

from __future__ import annotations

import time
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.integration.test_conversations import Conversations
from tests.torture.outcome import Outcome

STEPS = 50
"""Of one conversation's life, at most."""


def converse(*, steps: int) -> Outcome:
    """So many steps, each a message, a retry, an edit, an erasure or the like."""
    began, done, turns = time.monotonic(), 0, 0

    class Counted(Conversations):
        """Counts its steps, and the turns that were compared at its end."""

        def check_invariants(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - hypothesis's
            nonlocal done
            done += 1
            super().check_invariants(*args, **kwargs)

        def teardown(self) -> None:
            nonlocal turns
            turns += len(self.said)
            super().teardown()

    failures = 0
    while done < steps and not failures:
        some = settings(
            max_examples=max((steps - done) // STEPS, 1),
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=False,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        try:
            run_state_machine_as_test(Counted, settings=some)
        except AssertionError:
            failures += 1
    return Outcome(
        name="random conversations through the proxy",
        trials=done,
        acknowledged=turns,
        lost=failures,
        doubled=0,
        emptied=0,
        crossed=0,
        seconds=time.monotonic() - began,
        beside="what is stored is compared with what was said after every step",
    )
