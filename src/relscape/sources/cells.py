"""Cells and genes: AnnData, in memory or as .h5ad, and the folders that 10x Genomics' programs write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse, vstack

from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.labels import as_text
from relscape.errors import DataError, FormatError, MissingExtraError, UnknownNameError
from relscape.protocols import AnyArray, SparseArray
from relscape.sources.counts import check_weighing, checked_weights, weighed
from relscape.sources.market import read_market
from relscape.sources.matrices import one_file, read_columns

__all__ = ["is_10x_folder", "read_10x", "read_anndata"]

_BLOCK = 2**24
_LARGE = 2**30  # bytes that an array may have, however small the file
_MOST_EXPANDED = 1000  # times the file that a larger one may have
_LABELS = ("label", "feature_name", "gene_symbols", "gene_symbol", "gene_name")
_FEATURES = ("features.tsv.gz", "features.tsv", "genes.tsv.gz", "genes.tsv")
_BARCODES = ("barcodes.tsv.gz", "barcodes.tsv")
_MATRICES = ("matrix.mtx.gz", "matrix.mtx")


class _Parts(NamedTuple):
    """What is taken of an AnnData: the matrix (on disk or in memory), the frames beside it, its layers."""

    matrix: Any
    obs: Any
    var: Any
    layers: list[str]


def read_anndata(
    source: Any,
    layer: str | None = None,
    *,
    rows: str = "cell",
    columns: str = "gene",
    size_factors: float | None = None,
    log1p: bool = False,
) -> RelationalData:
    """Read the relation of cells and genes from an AnnData.

    Of a file only the matrix and what is known of cells and genes is read; one stored dense is read by
    blocks of rows and kept sparse.

    Parameters
    ----------
    source : path or AnnData
        A .h5ad file, or the object, backed or in memory.
    layer : str, optional
        Which layer; "raw" is the matrix of ``raw``. X unless given.
    rows, columns : str
        What to call the things of obs and of var.
    size_factors : float, optional
        The total that the counts of every cell are brought to, such as 10000.
    log1p : bool
        Whether to take log(1 + x), after that.

    Returns
    -------
    RelationalData
        Cells × genes. The columns of obs and var are their fields; genes are labelled by the first column
        of var named label, feature_name, gene_symbols, gene_symbol or gene_name, if there is one.
    """
    check_weighing(size_factors)
    if hasattr(source, "obs_names") and hasattr(source, "layers"):
        return _related(_of_object(source, layer), "the AnnData", layer, rows, columns, size_factors, log1p)
    path = one_file(source)
    with _opened(path) as file:
        parts = _of_file(file, path, layer)
        return _related(parts, str(path), layer, rows, columns, size_factors, log1p)


def _related(
    parts: _Parts,
    where: str,
    layer: str | None,
    rows: str,
    columns: str,
    size_factors: float | None,
    log1p: bool,
) -> RelationalData:
    place = f"{where}, {'X' if layer is None else f'layer {layer!r}'}"
    others = [name for name in parts.layers if name != layer]
    remedy = "It looks centred or scaled; choose a matrix of counts"
    remedy += f" by its layer: {', '.join(others)}." if others else "."
    matrix = checked_weights(_in_memory(parts.matrix, place), place, remedy)
    for frame, size, side in zip((parts.obs, parts.var), matrix.shape, ("obs", "var"), strict=True):
        if len(frame) != size:
            raise DataError(f"{place} has {size} entries for {side}, which has {len(frame)} names.")
        if not frame.index.is_unique:
            raise DataError(
                f"{where}: {int(frame.index.duplicated().sum())} {side}_names repeat, the first is "
                f"{str(frame.index[frame.index.duplicated()][0])!r}; tell them apart, as with "
                f"adata.{side}_names_make_unique()."
            )
    entities = [_entities(rows, parts.obs), _entities(columns, parts.var)]
    table = weighed(matrix, size_factors, log1p)
    return RelationalData(entities, [Relation(f"{rows}-{columns}", rows, columns, table)])


def _entities(kind: str, frame: Any) -> EntitySet:
    fields = {str(name): _values(frame[name]) for name in frame.columns}
    label = next((name for name in _LABELS if name in fields), None)
    labels = None if label is None else fields.pop(label)
    return EntitySet(kind, as_text(frame.index.tolist(), f"ids of kind {kind!r}"), labels, fields)


def _values(column: Any) -> AnyArray:
    """Take a column of a frame: numbers and truth values as they are, all else as text, None if missing."""
    missing = column.isna().to_numpy()
    kind = getattr(column.dtype, "kind", "O")
    if isinstance(column.dtype, np.dtype) and kind in "biuf":
        return np.asarray(column.to_numpy())
    if kind in "iuf":  # pandas' own numbers, which may be missing
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    values = np.empty(len(column), dtype=object)
    values[:] = [None if gone else str(v) for v, gone in zip(column.tolist(), missing, strict=True)]
    return values


# ---------------------------------------------------------------------- an object


def _of_object(data: Any, layer: str | None) -> _Parts:
    layers = [*map(str, data.layers.keys()), *(["raw"] if data.raw is not None else [])]
    if layer is None:
        if data.X is None:
            raise _no_x("the AnnData", layers)
        return _Parts(data.X, data.obs, data.var, layers)
    if layer not in layers:
        raise UnknownNameError("layer", layer, layers, "the AnnData")
    if layer in data.layers:
        return _Parts(data.layers[layer], data.obs, data.var, layers)
    return _Parts(data.raw.X, data.obs, data.raw.var, layers)


def _no_x(where: str, layers: Sequence[str]) -> DataError:
    choice = f"choose a layer: {', '.join(layers)}." if layers else "nor any layer to choose instead."
    return DataError(f"{where} has no matrix X; {choice}")


# ---------------------------------------------------------------------- a file


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open an .h5ad file; one that is damaged, or something else, is refused."""
    try:
        import anndata  # noqa: F401 (its reader of frames is used below)
        import h5py
    except ImportError as error:
        raise MissingExtraError("anndata", "anndata", f"reading {path.name}") from error
    if path.is_dir():
        raise FormatError(f"{path} is a folder; an .h5ad is a file.")
    try:
        with h5py.File(path, "r") as file:
            yield file
    except (OSError, KeyError, RuntimeError) as error:
        if isinstance(error, DataError | FormatError | UnknownNameError):
            raise
        told = str(error.args[0] if error.args else error)
        raise FormatError(
            f"{path} is not an AnnData file that can be read ({told}). If it is cut off or damaged, copy or "
            "make it again."
        ) from error


def _of_file(file: Any, path: Path, layer: str | None) -> _Parts:
    from anndata.io import read_elem

    for part in ("obs", "var"):
        if part not in file:
            raise FormatError(f"{path} has no {part}: it is not an AnnData file, or it is damaged.")
        if "encoding-type" not in file[part].attrs:
            raise FormatError(
                f"{path} was written by an anndata older than 0.7; read it with anndata and write it again."
            )
    layers = [*file.get("layers", {}), *(["raw"] if "raw" in file else [])]
    if layer is None and "X" not in file:
        raise _no_x(str(path), layers)
    if layer is not None and layer not in layers:
        raise UnknownNameError("layer", layer, layers, str(path))
    of_raw = layer == "raw" and layer not in file.get("layers", {})
    place = "X" if layer is None else "raw/X" if of_raw else f"layers/{layer}"
    for part in ("obs", "raw/var" if of_raw else "var", place):
        _check_stored(file[part], path)
    try:
        obs, var = read_elem(file["obs"]), read_elem(file["raw/var" if of_raw else "var"])
    except Exception as error:  # whatever anndata makes of a damaged part
        told = next(iter(str(error).splitlines()), type(error).__name__)
        raise FormatError(
            f"{path}: what it says of obs and var cannot be read ({told}). If it is damaged, copy or make it "
            "again."
        ) from error
    return _Parts(file[place], obs, var, layers)


def _check_stored(part: Any, path: Path) -> None:
    """Refuse a file that promises arrays far larger than itself, as holes in it can."""
    most = max(_LARGE, _MOST_EXPANDED * path.stat().st_size)

    def check(_: str, found: Any) -> None:
        if hasattr(found, "nbytes") and found.nbytes > most:
            raise FormatError(
                f"{path} is {path.stat().st_size:,} bytes, but {found.name} in it says it has "
                f"{found.nbytes:,}: it is damaged, or made to exhaust the memory."
            )

    check("", part)
    if hasattr(part, "visititems"):
        part.visititems(check)


def _in_memory(matrix: Any, where: str) -> Any:
    """Bring a matrix from the disk, sparse: a sparse one at once, a dense one by blocks of rows."""
    if issparse(matrix) or isinstance(matrix, np.ndarray):
        return matrix
    if hasattr(matrix, "to_memory"):  # AnnData's own sparse matrices on disk
        return matrix.to_memory()
    if hasattr(matrix, "keys"):
        return _stored_sparse(matrix, where)
    if len(matrix.shape) != 2 or matrix.dtype.kind not in "biuf":
        return np.asarray(matrix[:1])
    height = max(1, _BLOCK // max(1, matrix.shape[1]))
    starts = range(0, matrix.shape[0], height)
    blocks = [csr_array(matrix[start : start + height]) for start in starts]
    return csr_array(vstack(blocks, format="csr")) if blocks else csr_array(matrix.shape)


def _stored_sparse(group: Any, where: str) -> SparseArray:
    kind = str(group.attrs.get("encoding-type", ""))
    if kind not in ("csr_matrix", "csc_matrix"):
        raise FormatError(f"{where} is stored as {kind or 'something unknown'}; expected a matrix.")
    make = csr_array if kind == "csr_matrix" else csc_array
    parts = (group["data"][:], group["indices"][:], group["indptr"][:])
    try:
        return make(parts, shape=tuple(group.attrs["shape"]))
    except ValueError as error:
        raise FormatError(f"{where} is damaged: {error}. Copy or make the file again.") from error


# ---------------------------------------------------------------------- folders of 10x


def is_10x_folder(path: Path) -> bool:
    """Tell whether a folder holds a matrix with features and barcodes beside it."""
    return path.is_dir() and any((path / name).is_file() for name in _MATRICES)


def read_10x(
    path: str | PathLike[str],
    *,
    rows: str = "cell",
    columns: str = "gene",
    size_factors: float | None = None,
    log1p: bool = False,
) -> RelationalData:
    """Read the relation of cells and genes from a folder as Cell Ranger writes it.

    Parameters
    ----------
    path : path
        A folder with matrix.mtx, features.tsv (or genes.tsv) and barcodes.tsv, each also with .gz. The
        matrix has a row a gene there and is turned.
    rows, columns : str
        What to call cells and genes.
    size_factors, log1p
        As in ``read_anndata``.

    Returns
    -------
    RelationalData
        Cells × genes. Genes have their ids, names as labels, and what they are as the field ``type``.
    """
    check_weighing(size_factors)
    folder = one_file(path)
    if not folder.is_dir():
        raise FormatError(f"{folder} is a file; expected the folder of matrix.mtx, features and barcodes.")
    files = [_there(folder, names) for names in (_MATRICES, _FEATURES, _BARCODES)]
    features, barcodes = read_columns(files[1]), read_columns(files[2])
    matrix = checked_weights(read_market(files[0]), str(files[0]))
    for records, side in ((features, 0), (barcodes, 1)):
        if len(records) != matrix.shape[side]:
            raise DataError(
                f"{files[1 + side]} names {len(records):,}, but {files[0].name} has {matrix.shape[side]:,} "
                f"{('rows', 'columns')[side]}; they do not belong together, or one is cut off."
            )
    width = min(map(len, features), default=0)
    ids, names, types = (
        as_text([r[k] for r in features] if width > k else [], f"{files[1]}") for k in range(3)
    )
    genes = EntitySet(columns, ids, names if width > 1 else None, {"type": types} if width > 2 else {})
    cells = EntitySet(rows, as_text([record[0] for record in barcodes], f"{files[2]}"))
    table = weighed(csr_array(matrix.T), size_factors, log1p)
    return RelationalData([cells, genes], [Relation(f"{rows}-{columns}", rows, columns, table)])


def _there(folder: Path, names: Sequence[str]) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise FormatError(f"{folder} has no {names[0]}; expected one of {', '.join(names)}.")
