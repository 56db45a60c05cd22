"""The explorer as Python meets it: open a map, write it as a file, show it in a notebook."""

from __future__ import annotations

import html
import sys
from pathlib import Path
from typing import Any

from relscape.errors import ParameterError
from relscape.explorer.bundle import make_bundle
from relscape.explorer.exhibit import Exhibit, land, title_of
from relscape.explorer.html import single_page, write_html
from relscape.explorer.launch import HOST, Explorer, open_explorer
from relscape.explorer.page import is_built, load_page
from relscape.maps import Map

__all__ = ["explore", "notebook_page", "to_html"]

MOST_IN_NOTEBOOK = 5_000  # points that are written into a notebook each time a map is shown
LARGEST_IN_NOTEBOOK = 3_000_000  # letters
HEIGHT = 600


def explore(
    map_: Map,
    compare: Map | None = None,
    *,
    title: str | None = None,
    knowledge: Any = None,
    new: Any = None,
    kind: str | None = None,
    host: str = HOST,
    port: int | None = None,
    browser: bool = True,
    block: bool | None = None,
) -> Explorer:
    """Open a map in a browser.

    Parameters
    ----------
    map_ : Map
        What to look at.
    compare : Map, optional
        Another map, shown beside it; what is selected on one is selected on the other.
    title : str, optional
        What to call it.
    knowledge : KGEmbedding, optional
        For the map of a knowledge graph, the model that answers which facts are likely.
    new : RelationalData or data frame, optional
        New things, as :func:`relscape.place` takes them, to see where each would land.
    kind : str, optional
        Their kind.
    host, port : str, int
        Where to serve it: on this machine only, unless said otherwise; then its address has a token.
    browser : bool
        Whether to open a browser.
    block : bool, optional
        Whether to wait until Ctrl-C is pressed; a script does, an interactive session does not.

    Returns
    -------
    Explorer
        With its ``url``; ``stop()`` ends it.
    """
    if compare is not None and not isinstance(compare, Map):
        raise ParameterError(f"compare={type(compare).__name__}: give another Map.")
    newcomers = None if new is None else land(map_, new, kind)
    exhibits = [Exhibit(map_, title or title_of(map_), knowledge, newcomers)]
    if compare is not None:
        exhibits.append(Exhibit(compare, title_of(compare)))
    explorer = open_explorer(exhibits, host, port, browser)
    waits = not hasattr(sys, "ps1") and not sys.flags.interactive if block is None else block
    if waits:
        sys.stderr.write(f"The map is at {explorer.url} (Ctrl-C stops).\n")
        explorer.wait()
    return explorer


def to_html(
    map_: Map,
    path: str | Path,
    *,
    title: str | None = None,
    relations: bool = True,
    new: Any = None,
    kind: str | None = None,
) -> Path:
    """Write a map as one HTML file that works without a network.

    Parameters
    ----------
    map_ : Map
        What to write.
    path : str or Path
        The file.
    title : str, optional
        What to call it.
    relations : bool
        Whether the relations that the map carries are written, too.
    new, kind
        As in :func:`explore`.

    Returns
    -------
    Path
        Where it was written.
    """
    newcomers = None if new is None else land(map_, new, kind)
    exhibit = Exhibit(map_, title or title_of(map_), newcomers=newcomers, relations=relations)
    return write_html(exhibit, Path(path))


def notebook_page(map_: Map) -> str:
    """Give a map as a notebook shows it: the page itself for small maps, a short table for large ones."""
    if len(map_) > MOST_IN_NOTEBOOK:
        return _table(map_, "to look at it in a browser: .explore()")
    if not is_built():
        return _table(map_, "the explorer's page is not built here; to draw it: .plot()")
    text = single_page(make_bundle(Exhibit(map_, title_of(map_)), served=False), load_page())
    if len(text) > LARGEST_IN_NOTEBOOK:
        return _table(map_, "to look at it in a browser: .explore()")
    return (
        f'<iframe sandbox="allow-scripts allow-downloads" width="100%" height="{HEIGHT}" frameborder="0" '
        f'title="{html.escape(repr(map_))}" srcdoc="{html.escape(text)}"></iframe>'
    )


def _table(map_: Map, hint: str) -> str:
    """Describe a map in a few lines of HTML."""
    rows = "".join(
        f"<tr><td>{_escaped(kind)}</td><td>{len(map_.group(kind)):,}</td>"
        f"<td>{_escaped(', '.join(map_.group(kind).fields))}</td></tr>"
        for kind in map_.groups
    )
    return (
        f"<p>{_escaped(repr(map_))}</p><table><thead><tr><th>kind</th><th>things</th><th>fields</th></tr>"
        f"</thead><tbody>{rows}</tbody></table><p>{_escaped(hint)}</p>"
    )


def _escaped(value: object) -> str:
    return html.escape(str(value))
