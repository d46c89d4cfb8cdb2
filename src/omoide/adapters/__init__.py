"""The outside world: the only place that imports a vendor's library."""
