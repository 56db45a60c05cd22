"""Matrix files: scipy's .npz and Matrix Market, read sparse."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from relscape.data import RelationalData
from relscape.errors import DataError, FormatError, ParameterError, StorageError
from relscape.sources.bounds import DAMAGED_ARCHIVE, check_members
from relscape.sources.counts import check_weighing, checked_weights, weighed
from relscape.sources.dialects import text_lines
from relscape.sources.encodings import decoded, encoding_of
from relscape.sources.files import COMPRESSIONS, expand
from relscape.sources.market import read_market

__all__ = ["ENDINGS", "Names", "one_file", "read_columns", "read_matrix"]

ENDINGS = (".npz", ".mtx", ".mtx.gz", ".mtx.bz2")
Names = str | PathLike[str] | Iterable[Any]


def read_matrix(
    path: str | PathLike[str],
    row_names: Names | None = None,
    column_names: Names | None = None,
    *,
    rows: str = "row",
    columns: str = "column",
    size_factors: float | None = None,
    log1p: bool = False,
) -> RelationalData:
    """Read a relation from a matrix file: scipy's .npz (as ``save_npz`` writes it) or Matrix Market's .mtx.

    Parameters
    ----------
    path : path
        A file named .npz, .mtx, .mtx.gz or .mtx.bz2. It is read sparse, whatever its size.
    row_names, column_names : path or sequence, optional
        The ids of the two kinds: a text file with one a line (of a table with tabs, the first column), or
        the names themselves. Without them things are numbered from 0.
    rows, columns : str
        What to call the two kinds; the same name twice is a relation within one kind.
    size_factors : float, optional
        The total that the weights of every row are brought to.
    log1p : bool
        Whether to take log(1 + weight), after that.

    Returns
    -------
    RelationalData
        With one relation.
    """
    check_weighing(size_factors)
    file = one_file(path)
    name = file.name.lower()
    if name.endswith(".npz"):
        matrix = _read_npz(file)
    elif name.endswith(ENDINGS):
        matrix = read_market(file)
    else:
        raise FormatError(f"{file}: expected a matrix file, with a name ending in {', '.join(ENDINGS)}.")
    table = weighed(checked_weights(matrix, str(file)), size_factors, log1p)
    ids = [
        _names(given, size, side, file)
        for given, size, side in zip((row_names, column_names), table.shape, ("row", "column"), strict=True)
    ]
    return RelationalData.from_matrix(table, rows, columns, ids[0], ids[1])


def one_file(path: str | PathLike[str]) -> Path:
    """Find the one file or folder meant; patterns that fit several are refused."""
    found = expand(path)
    if len(found) != 1:
        raise ParameterError(f"{path}: {len(found)} files match; name one.")
    return found[0]


def _read_npz(path: Path) -> Any:
    from scipy.sparse import load_npz

    try:
        check_members(path)
        with path.open("rb") as stream:
            return load_npz(stream)
    except FormatError:
        raise
    except DAMAGED_ARCHIVE as error:
        raise FormatError(
            f"{path} is not a sparse matrix that can be read ({error}): expected what scipy.sparse.save_npz "
            "writes. If it is damaged, make it again."
        ) from error


def _names(given: Names | None, size: int, side: str, path: Path) -> list[Any] | None:
    if given is None:
        return None
    if isinstance(given, str | PathLike):
        file = one_file(given)
        names: list[Any] = [record[0] for record in read_columns(file)]
        origin = str(file)
    else:
        names, origin = list(given), f"{side}_names"
    if len(names) != size:
        raise DataError(
            f"{origin} has {len(names):,} names, but {path} has {size:,} {side}s; give one for each, in "
            "their order."
        )
    return names


def read_columns(path: Path) -> list[list[str]]:
    """Read a text file without column names as lines cut at tabs; empty lines at its end are left out."""
    if path.is_dir():
        raise StorageError(f"{path} is a folder; expected a text file.")
    compression = COMPRESSIONS.get(path.suffix.lower())
    lines = text_lines(decoded(path, compression, encoding_of(path, compression)))
    records = [line.rstrip("\n").split("\t") for line in lines]
    while records and records[-1] == [""]:
        records.pop()
    return records
