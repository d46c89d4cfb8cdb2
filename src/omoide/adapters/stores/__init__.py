"""Implementations of the `Store` port."""
