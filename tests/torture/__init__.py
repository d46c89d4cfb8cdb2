"""Fault injection: real processes, killed, starved and lied to, and what they lost: nothing.

    python -m tests.torture --minutes 15 --out docs/torture.md

`make torture` runs it. A small part runs with the tests (`test_torture.py`).
"""
