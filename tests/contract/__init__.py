"""What every adapter of a port must do."""
