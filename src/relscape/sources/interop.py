"""Files of other programs, told by their names, and one way to read them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from relscape.data import RelationalData
from relscape.errors import ParameterError, listing
from relscape.sources.files import Paths, expand, origins

__all__ = ["ALSO_TABLES", "FORMS", "Form", "HowToRead", "form_of", "read_form"]


@dataclass(frozen=True)
class HowToRead:
    """What can be said about reading a file of another program; each form uses some of it."""

    rows: str | None = None
    columns: str | None = None
    weight: str | None = None
    layer: str | None = None
    size_factors: float | None = None
    log1p: bool = False
    row_names: Any = None
    column_names: Any = None
    min_df: int | float = 1
    max_df: int | float = 1.0
    stop_words: Any = None
    ngrams: tuple[int, int] = (1, 1)
    encoding: str | None = None
    sheet: str | None = None

    def given(self) -> dict[str, Any]:
        """Give what differs from the defaults."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in said.items() if value != getattr(_NOTHING, name)}


_NOTHING = HowToRead()


@dataclass(frozen=True)
class Form:
    """A form of files: what to call it, what can be said about reading it, and whether several are read."""

    title: str
    read: Callable[..., RelationalData]
    uses: frozenset[str]
    several: bool = False


def _matrix(path: Path, **options: Any) -> RelationalData:
    from relscape.sources.matrices import read_matrix

    return read_matrix(path, **options)


def _anndata(path: Path, **options: Any) -> RelationalData:
    from relscape.sources.cells import read_anndata

    return read_anndata(path, **options)


def _10x(path: Path, **options: Any) -> RelationalData:
    from relscape.sources.cells import read_10x

    return read_10x(path, **options)


def _graph(path: Path, rows: str = "node", columns: str | None = None, **options: Any) -> RelationalData:
    from relscape.sources.graphs import read_graph

    if columns not in (None, rows):
        raise ParameterError(f"{path} is a graph, with one kind of nodes: call it by rows alone.")
    return read_graph(path, rows, **options)


def _ratings(paths: list[Path], **options: Any) -> RelationalData:
    from relscape.sources.ratings import read_ratings

    return read_ratings(paths, **options)


def _publications(paths: list[Path], **options: Any) -> RelationalData:
    from relscape.sources.publications import read_publications

    return read_publications(paths, **options)


_KINDS = frozenset({"rows", "columns"})
_COUNTS = frozenset({"size_factors", "log1p"})

ALSO_TABLES = {"ratings", "publications"}  # where columns are named, files of these forms are tables
FORMS = {
    "matrix": Form("a matrix", _matrix, _KINDS | _COUNTS | {"row_names", "column_names"}),
    "anndata": Form("an AnnData file", _anndata, _KINDS | _COUNTS | {"layer"}),
    "10x": Form("a folder of 10x Genomics", _10x, _KINDS | _COUNTS),
    "graph": Form("a graph", _graph, _KINDS | {"weight"}),
    "ratings": Form("a file of ratings", _ratings, frozenset({"encoding"}), several=True),
    "publications": Form(
        "a file of publications",
        _publications,
        frozenset({"min_df", "max_df", "stop_words", "ngrams", "encoding"}),
        several=True,
    ),
}


def form_of(paths: Paths) -> str | None:
    """Tell which form of another program files have; None where they are tables or texts.

    Files of different forms, and several of a form that is read one at a time, are refused.
    """
    found = origins(paths)
    forms = {path: _form(path) if isinstance(path, Path) else None for path in found}
    distinct = set(forms.values())
    if distinct == {None}:
        return None
    first = next(path for path, form in forms.items() if form is not None)
    form = forms[first]
    if form is None or len(distinct) > 1:
        raise ParameterError(f"{listing(found, 3)} are of different forms; name files of one form.")
    if len(found) > 1 and not FORMS[form].several:
        raise ParameterError(
            f"{first} is {FORMS[form].title}, of which one is read at a time; {len(found)} are named."
        )
    return form


def _form(path: Path) -> str | None:
    from relscape.sources.cells import is_10x_folder
    from relscape.sources.matrices import ENDINGS
    from relscape.sources.publications import is_publications_file
    from relscape.sources.ratings import is_ratings_file

    name = path.name.lower()
    if path.is_dir():
        return "10x" if is_10x_folder(path) else None
    if name.endswith(ENDINGS):
        return "matrix"
    if name.endswith(".h5ad"):
        return "anndata"
    if name.endswith((".graphml", ".graphml.gz")):
        return "graph"
    if is_ratings_file(path):
        return "ratings"
    return "publications" if is_publications_file(path) else None


def read_form(paths: Paths, form: str, how: HowToRead = _NOTHING) -> RelationalData:
    """Read files of a form; what has no meaning for it is refused by name."""
    found, chosen, given = expand(paths), FORMS[form], how.given()
    for name in given:
        if name not in chosen.uses:
            raise ParameterError(
                f"{name} has no meaning for {found[0]}, which is {chosen.title}. Leave it out; what can be "
                f"said is {', '.join(sorted(chosen.uses))}."
            )
    return chosen.read(found if chosen.several else found[0], **given)
