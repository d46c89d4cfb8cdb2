"""Running a benchmark: calls that are made once, a plan before, records and statistics after."""
