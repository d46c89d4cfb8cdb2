"""Talks at which little or nothing is told, in five languages."""
