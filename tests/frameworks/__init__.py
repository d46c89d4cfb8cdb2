"""Adapters for agent frameworks, each with the framework itself."""
