"""Data to numbers: pure functions on sparse arrays."""
