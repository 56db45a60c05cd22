"""A map or coordinates and the truth, to numbers."""
