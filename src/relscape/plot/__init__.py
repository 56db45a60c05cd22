"""Static pictures of maps."""

from relscape.plot.picture import draw_map
from relscape.plot.saving import save_picture

__all__ = ["draw_map", "save_picture"]
