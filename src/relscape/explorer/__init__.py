"""The explorer: look at a map, question it, and move it by hand, in a browser or in one HTML file."""

from relscape.explorer.doors import explore, notebook_page, to_html

__all__ = ["explore", "notebook_page", "to_html"]
