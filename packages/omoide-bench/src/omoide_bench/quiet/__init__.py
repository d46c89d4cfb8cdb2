"""Talks with few or no personal facts, in five languages."""
