"""Tests that only `make test-all` runs: killed processes, database servers, training, real data,
encryption, and whatever else takes minutes. `tests/conftest.py` marks all of them `heavy`."""
