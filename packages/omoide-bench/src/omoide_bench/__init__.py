"""Benchmarks on public data, through the same API that users call."""
