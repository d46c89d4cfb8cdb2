"""Numbered schema migrations. Never edit a released one: add another."""
