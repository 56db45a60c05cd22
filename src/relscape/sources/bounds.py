"""How large a file says its contents are, told before anything of that size is made.

A few bytes can promise a matrix of a million million rows, or a workbook whose last cell is the last one
there can be. Readers of other libraries believe them and exhaust the memory, or end the process. Here
such promises are weighed against what the file holds, and refused where they cannot be meant.
"""

from __future__ import annotations

import math
import re
import struct
import zipfile
import zlib
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from numpy.lib import format as npy

from relscape.errors import FormatError
from relscape.maps.weighing import most_unpacked

__all__ = [
    "DAMAGED_ARCHIVE",
    "check_matrix_size",
    "check_members",
    "check_workbook",
    "entries_of",
]

# What Python's zipfile and the libraries above it raise when an archive is damaged. Too little memory is not
# among it: of what a file promises, no more is asked for than it can hold.
DAMAGED_ARCHIVE = (
    *(ValueError, KeyError, EOFError, OSError, OverflowError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)
_MANY = 1 << 25  # rows or columns that a nearly empty matrix may have
_MOST_CELLS = 200_000_000  # of one sheet, empty ones between others too
_PIECE = 1 << 20
_CELL = re.compile(rb'<(?:\w+:)?c [^>]*?\br="([A-Z]{1,3})([0-9]{1,7})"')
_ROW_END = re.compile(rb"</(?:\w+:)?table-row>")
_REPEATED = re.compile(rb'number-(rows|columns)-repeated="([0-9]+)"')


def check_matrix_size(shape: tuple[int, ...], entries: int, where: str) -> None:
    """Refuse a matrix that is nothing but rows or columns without entries, millions of them."""
    for size, side in zip(shape, ("rows", "columns"), strict=False):
        if size > max(_MANY, 100 * entries):
            raise FormatError(
                f"{where} says it has {size:,} {side}, but holds {entries:,} entries: its header is damaged, "
                "or it is to be made again without the empty ones."
            )


def check_members(path: Path) -> None:
    """Refuse an .npz whose arrays would unpack to something enormous; no more than it says is unpacked."""
    with zipfile.ZipFile(path) as archive:
        if sum(member.file_size for member in archive.infolist()) > most_unpacked(path):
            raise _enormous(path, "what is")
        for member in archive.infolist():
            with archive.open(member) as stream:
                _check_array(stream, member, path)


def _check_array(stream: IO[bytes], member: zipfile.ZipInfo, path: Path) -> None:
    """Refuse an array whose head promises more than follows: numpy would ask for the memory first."""
    version = npy.read_magic(stream)
    shape, _, dtype = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(stream)
    if math.prod(shape) * dtype.itemsize > member.file_size:
        raise FormatError(
            f"{path}: {member.filename!r} in it is {member.file_size:,} bytes, but says it holds "
            f"{math.prod(shape):,} numbers: it is damaged, make it again."
        )


def _enormous(path: Path, what: str) -> FormatError:
    return FormatError(
        f"{path} is {path.stat().st_size:,} bytes, but {what} in it unpacks to more than "
        f"{most_unpacked(path):,}: it is damaged, or made to exhaust the memory."
    )


def _pieces(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> Generator[bytes]:
    """Unpack one member piece by piece, up to what may be; the size it claims is not believed."""
    most, read = most_unpacked(path), 0
    member.file_size = 1 << 62  # read on to where the packed bytes end
    with archive.open(member) as stream:
        while piece := stream.read(_PIECE):
            read += len(piece)
            if read > most:
                raise _enormous(path, repr(member.filename))
            yield piece


def check_workbook(path: Path) -> None:
    """Refuse a workbook that would unpack to something enormous, or spans too many cells."""
    if not zipfile.is_zipfile(path):  # the old .xls, whose sheets are bounded
        return
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            with closing(_pieces(archive, member, path)) as pieces:
                if member.filename.startswith("xl/worksheets/"):
                    _check_span(_cells_spanned(pieces), member.filename, path)
                elif member.filename == "content.xml":
                    _check_span(_cells_repeated(pieces), member.filename, path)
                else:
                    deque(pieces, maxlen=0)


def _check_span(sizes: Iterator[int], name: str, path: Path) -> None:
    for cells in sizes:
        if cells > _MOST_CELLS:
            raise FormatError(
                f"{path}: {name} spans {cells:,} cells, more than the {_MOST_CELLS:,} that are read. Delete "
                "what stands far from the table, or save the table as CSV or Parquet."
            )


def _overlapping(pieces: Iterator[bytes], tail: int = 256) -> Iterator[bytes]:
    """Give pieces with the end of the one before, so that nothing is missed between two."""
    before = b""
    for piece in pieces:
        yield before + piece
        before = piece[-tail:]


def _cells_spanned(pieces: Iterator[bytes]) -> Iterator[int]:
    """Give the size of the rectangle that holds the cells of an .xlsx sheet, as it grows."""
    last_row = last_column = 0
    for piece in _overlapping(pieces):
        for letters, digits in _CELL.findall(piece):
            column = 0
            for letter in letters:
                column = 26 * column + letter - 64
            last_column, last_row = max(last_column, column), max(last_row, int(digits))
        yield last_row * last_column


def _cells_repeated(pieces: Iterator[bytes]) -> Iterator[int]:
    """Give the size of the rectangle that holds the values of an .ods file, repeated cells counted."""
    row_number = last_row = last_column = 0
    rest = b""
    for piece in pieces:
        *rows, rest = _ROW_END.split(rest + piece)
        for row in rows:
            repeated = [(kind, int(times)) for kind, times in _REPEATED.findall(row[: _values_end(row)])]
            row_number += max([1, *(times for kind, times in repeated if kind == b"rows")])
            if b"value-type" in row:
                columns = row.count(b"table-cell") + sum(n for kind, n in repeated if kind == b"columns")
                last_row, last_column = row_number, max(last_column, columns)
        yield last_row * last_column


def _values_end(row: bytes) -> int:
    """Find where the last cell with a value is described; empty ones behind it do not count."""
    return row.find(b">", max(0, row.rfind(b"value-type"))) + 1


def entries_of(matrix: Any) -> int:
    """Count the entries that a sparse or dense matrix holds."""
    return int(matrix.nnz if hasattr(matrix, "nnz") else matrix.size)
