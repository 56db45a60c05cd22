"""How ``make docs`` builds the documentation. Nothing in the built pages asks another server for anything."""

from __future__ import annotations

import re

import relscape

project = "relscape"
author = "The relscape developers"
copyright = "the relscape developers"
release = version = relscape.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_use_rtype = False

html_theme = "furo"
html_title = "relscape"
html_static_path = ["_static"]
html_css_files = ["code.css"]
html_show_sourcelink = False
html_copy_source = False


def formulas_as_code(app, what, name, obj, options, lines):  # noqa: ARG001
    """Show the formulas of docstrings as code: what typesets them would come from another server."""
    lines[:] = re.sub(r":math:`([^`]*)`", r"``\1``", "\n".join(lines)).split("\n")


def setup(app):
    app.connect("autodoc-process-docstring", formulas_as_code)
