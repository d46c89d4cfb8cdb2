"""Does a reply admit what it does not know? Our own questions in five languages."""
