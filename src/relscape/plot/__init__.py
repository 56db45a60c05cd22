"""Static pictures of maps."""

from relscape.plot.cohorts import draw_cohorts
from relscape.plot.picture import draw_map
from relscape.plot.saving import save_picture

__all__ = ["draw_cohorts", "draw_map", "save_picture"]
