"""What the three papers are compared with."""
