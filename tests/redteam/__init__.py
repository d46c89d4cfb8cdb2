"""Memory poisoning."""
