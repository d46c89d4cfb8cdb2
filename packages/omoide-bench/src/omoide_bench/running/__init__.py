"""Running a benchmark: cached calls, a plan beforehand, records and statistics afterwards."""
