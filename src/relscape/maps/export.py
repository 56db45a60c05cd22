"""A map for other programs: one format a name, told by the ending of the file where that is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from relscape.errors import FormatError, ParameterError, StorageError, UnknownNameError
from relscape.maps.export_anndata import is_our_anndata, write_anndata
from relscape.maps.export_graphs import is_our_graph, write_gexf, write_graphml
from relscape.maps.export_tables import is_our_csv, is_our_parquet, write_atlas, write_csv, write_parquet
from relscape.maps.export_vectors import is_word2vec, write_projector, write_word2vec, write_word2vec_binary
from relscape.maps.files import atomic_file, storage_errors

if TYPE_CHECKING:
    from relscape.maps.map import Map

__all__ = ["FORMATS", "ExportFormat", "export_map", "format_for", "only_kinds", "pictured"]


@dataclass(frozen=True)
class ExportFormat:
    """How a map is written for other programs.

    ``endings`` tell the format, unless ``named`` says that its name has to be given. ``write`` makes a file,
    which may replace an earlier one that ``earlier`` knows; without ``earlier`` it sees to that itself.
    """

    name: str
    endings: tuple[str, ...]
    opened_by: str
    write: Callable[[Map, Path], None]
    earlier: Callable[[Path], bool] | None = None
    named: bool = False


def _write_html(map_: Map, path: Path) -> None:
    map_.to_html(path)


def _is_our_page(path: Path) -> bool:
    return b'id="relscape-data"' in path.read_bytes()


FORMATS = {
    form.name: form
    for form in (
        ExportFormat("csv", (".csv",), "spreadsheets", write_csv, is_our_csv),
        ExportFormat("parquet", (".parquet",), "pandas, polars, DuckDB, R", write_parquet, is_our_parquet),
        ExportFormat("word2vec", (".vec", ".txt"), "gensim, fastText tools", write_word2vec, is_word2vec),
        ExportFormat("word2vec-binary", (".bin",), "gensim", write_word2vec_binary, is_word2vec),
        ExportFormat("tensorboard", ("",), "TensorBoard's projector", write_projector, named=True),
        ExportFormat("anndata", (".h5ad",), "anndata, scanpy", write_anndata, is_our_anndata),
        ExportFormat("graphml", (".graphml",), "networkx, igraph, Gephi", write_graphml, is_our_graph),
        ExportFormat("gexf", (".gexf",), "Gephi, networkx", write_gexf, is_our_graph),
        ExportFormat(
            "embedding-atlas", (".parquet",), "embedding-atlas", write_atlas, is_our_parquet, named=True
        ),
        ExportFormat("html", (".html", ".htm"), "any browser", _write_html, _is_our_page),
    )
}


def export_map(map_: Map, path: Path, format: str | None = None) -> Path:
    """Write a map for other programs, whole or not at all; returns where.

    Parameters
    ----------
    map_ : Map
        What to write: all its kinds, and the relations it carries where the format has room for them.
    path : Path
        Where to. An earlier export of the same format is replaced, anything else there is refused.
    format : str, optional
        A name of ``FORMATS``; told by the ending of the path unless given.
    """
    form = format_for(path, format)
    if form.earlier is None:
        form.write(map_, path)
        return path
    _refuse_other_things(path, form)
    with atomic_file(path) as draft:
        form.write(map_, draft)
    return path


def format_for(path: Path, name: str | None = None) -> ExportFormat:
    """Find a format by its name, or by the ending of a path; an ending that says otherwise is refused."""
    ending = path.suffix.lower()
    if name is None:
        found = [form for form in FORMATS.values() if ending in form.endings and not form.named]
        if not found:
            known = "; ".join(f"{form.name} ({_shown(form)})" for form in FORMATS.values())
            raise FormatError(f"{path}: the ending does not tell the format; name one of these: {known}.")
        return found[0]
    if name not in FORMATS:
        raise UnknownNameError("format", name, FORMATS)
    chosen = FORMATS[name]
    others = [form.name for form in FORMATS.values() if ending in form.endings and ending]
    if others and name not in others:
        raise FormatError(
            f"{path} ends as {others[0]} does, but the format is {name}: {_shown(chosen)} is expected."
        )
    return chosen


def _shown(form: ExportFormat) -> str:
    return "a directory" if form.endings == ("",) else " or ".join(form.endings)


def _refuse_other_things(path: Path, form: ExportFormat) -> None:
    """Refuse to replace a file that is no earlier export of this format."""
    with storage_errors("write", path):
        if form.earlier is not None and path.is_file() and path.stat().st_size and not form.earlier(path):
            raise StorageError(
                f"cannot write {path}: a file of that name is there, and it is no earlier export as "
                f"{form.name}. Choose another name, or move it away."
            )


def only_kinds(map_: Map, kinds: Iterable[str]) -> Map:
    """Give the map of some of its kinds, with the relations among them."""
    chosen = [map_.group(kind) for kind in dict.fromkeys(kinds)]
    if not chosen:
        raise ParameterError(f"name at least one kind of the map: {', '.join(map_.groups)}.")
    return map_.with_groups(chosen)


def pictured(map_: Map) -> Map:
    """Give the map whose coordinates are the two of the picture."""
    flat = [replace(group, coordinates=group.drawn) for group in map(map_.group, map_.groups)]
    return map_.with_groups(flat)
