"""Writing pictures to files: the same map gives the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from relscape.errors import ParameterError
from relscape.maps import Map
from relscape.maps.files import atomic_file
from relscape.maps.spelling import expanded
from relscape.plot.picture import draw_map
from relscape.plot.texts import quiet_glyphs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["save_picture"]

# What would tell one run from another is left out of the file.
METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def save_picture(
    picture: Figure | Map, path: str | Path, *, dpi: int = 200, colors: int | None = None, **options: Any
) -> Path:
    """Write a picture as PNG, SVG or PDF, whole or not at all.

    Parameters
    ----------
    picture : Figure or Map
        A drawn figure, or a map to be drawn.
    path : str or Path
        Where to; the ending says the format.
    dpi : int
        Dots an inch, of a PNG and of the dense clouds inside an SVG or PDF.
    colors : int, optional
        At most how many colours a PNG has, from 2 to 256: a file of about a third of the size.
    **options
        For a map, what :func:`draw_map` takes.
    """
    target = expanded(path)
    ending = target.suffix.lower()
    if ending not in METADATA:
        raise ParameterError(f"{target}: the ending says the format and can be {', '.join(METADATA)}.")
    if not isinstance(picture, Map) and options:
        raise ParameterError(f"{', '.join(options)}: the figure is drawn already; give options to draw_map.")
    _check_colors(colors, ending)
    from matplotlib import rc_context

    figure = draw_map(picture, **options) if isinstance(picture, Map) else picture
    with quiet_glyphs(), rc_context({"svg.hashsalt": "relscape"}), atomic_file(target) as draft:
        figure.savefig(draft, dpi=dpi, format=ending[1:], metadata=METADATA[ending])
        if colors is not None:
            _reduce(draft, colors)
    return target


def _check_colors(colors: int | None, ending: str) -> None:
    if colors is None:
        return
    if ending != ".png":
        raise ParameterError(f"colors={colors!r}: only a PNG has a number of colours, not {ending}.")
    if isinstance(colors, bool) or not isinstance(colors, int) or not 2 <= colors <= 256:
        raise ParameterError(f"colors={colors!r}: give a number of colours from 2 to 256.")


def _reduce(path: Path, colors: int) -> None:
    """Keep the colours that cover most of a picture."""
    from PIL import Image

    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(colors, Image.Quantize.MAXCOVERAGE)
    small.save(path, format="PNG", optimize=True)
