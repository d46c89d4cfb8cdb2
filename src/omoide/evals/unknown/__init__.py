"""Does a reply know what it was not told? Questions of our own in five languages."""
