"""Numbered schema migrations, each applied once and in order."""
