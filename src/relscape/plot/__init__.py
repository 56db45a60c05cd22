"""Static pictures of maps."""

from relscape.plot.picture import draw_map

__all__ = ["draw_map"]
