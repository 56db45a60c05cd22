"""The result: named points of several kinds in one space."""

from relscape.maps.map import Group, Map, Neighbor

__all__ = ["Group", "Map", "Neighbor"]
