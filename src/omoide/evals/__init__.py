"""Measurements on public data, by the same verbs that users call."""
