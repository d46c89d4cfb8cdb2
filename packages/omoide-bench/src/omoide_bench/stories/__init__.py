"""Stories of three sessions in which people tell about themselves, in five languages."""
