"""Does a reply use the fact in its prompt? Our own messages in five languages."""
