"""The kept faults of `make mutants` can still be put into the code."""

from __future__ import annotations

import pytest

from tests.mutants.areas import ROOT, SOURCES
from tests.mutants.faults import FAULTS, Fault


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_kept_fault_has_one_place_and_tests(fault: Fault) -> None:
    """Whoever changes the line or moves the tests changes the fault as well."""
    assert (SOURCES / fault.path).read_text("utf-8").count(fault.old) == 1
    assert [test for test in fault.tests if not (ROOT / test).is_file()] == []
