# noqa: INP001
"""Its modules import frameworks that are not all installed: tests/frameworks tests them."""

collect_ignore_glob = ["src/*"]
