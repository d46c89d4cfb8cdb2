"""Does a reply use the fact that it was handed? Messages of our own in five languages."""
