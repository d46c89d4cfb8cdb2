"""Stories of people who come back after weeks, for the exam `friend`."""
