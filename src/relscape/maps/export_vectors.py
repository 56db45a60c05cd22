"""Vectors for other programs: word2vec's two formats, and the projector of TensorBoard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from relscape.maps.files import replace_directory
from relscape.maps.naming import full_names, words
from relscape.protocols import FloatArray

if TYPE_CHECKING:
    from relscape.maps.map import Map

__all__ = ["is_word2vec", "write_projector", "write_word2vec", "write_word2vec_binary"]

_ROWS = 8192
_CONFIG = """embeddings {
  tensor_name: "relscape"
  tensor_path: "tensors.tsv"
  metadata_path: "metadata.tsv"
}
"""
_PROJECTOR_FILES = {"projector_config.pbtxt", "tensors.tsv", "metadata.tsv"}


def write_word2vec(map_: Map, path: Path) -> None:
    """Write a line a thing, its name and its numbers, below a line with how many things and numbers.

    A blank ends a name there, so blanks in names become underscores. Numbers have all their digits.
    """
    names = words(full_names(map_))
    with path.open("wb") as file:
        file.write(_head(map_))
        for start, block in _blocks(map_):
            file.write(
                _lines([pa.array(names[start : start + len(block)], pa.string()), *_texts(block)], " ")
            )


def write_word2vec_binary(map_: Map, path: Path) -> None:
    """Write the same with numbers as the bytes of single precision, which is all the format has."""
    names = words(full_names(map_))
    with path.open("wb") as file:
        file.write(_head(map_))
        for start, block in _blocks(map_):
            single = block.astype("<f4")
            file.writelines(
                name.encode() + b" " + row.tobytes() + b"\n"
                for name, row in zip(names[start : start + len(block)], single, strict=True)
            )


def is_word2vec(path: Path) -> bool:
    """Tell whether a file begins as vectors of word2vec do, with two numbers."""
    with path.open("rb") as file:
        return re.fullmatch(rb"\d+ \d+\r?\n", file.readline(64)) is not None


def _head(map_: Map) -> bytes:
    return f"{len(map_)} {map_.n_components}\n".encode()


def write_projector(map_: Map, path: Path) -> None:
    """Write a directory for TensorBoard: vectors, what is known of each thing, and where these two are."""
    replace_directory(path, lambda draft: _write_projector(map_, draft), _projector_files)


def _projector_files(path: Path) -> set[str] | None:
    """Name the files of an earlier export; None when the directory holds something else."""
    config = path / "projector_config.pbtxt"
    if not config.is_file() or config.read_bytes() != _CONFIG.encode():
        return None
    return set(_PROJECTOR_FILES)


def _write_projector(map_: Map, directory: Path) -> None:
    with (directory / "tensors.tsv").open("wb") as file:
        for _, block in _blocks(map_):
            file.write(_lines(_texts(block), "\t"))
    table = map_.to_frame()
    numbers = {"x", "y", *(f"z{axis}" for axis in range(map_.n_components))}
    first = ["label", "kind", "id"]
    names = first + [name for name in table.column_names if name not in {*first, *numbers}]
    with (directory / "metadata.tsv").open("wb") as file:
        file.write(_lines([pa.array([_on_one_line(name)]) for name in names], "\t"))
        for start in range(0, len(table), _ROWS):
            part = table.slice(start, _ROWS)
            file.write(_lines([_cells(part.column(name)) for name in names], "\t"))
    (directory / "projector_config.pbtxt").write_bytes(_CONFIG.encode())


def _blocks(map_: Map) -> Iterator[tuple[int, FloatArray]]:
    """Walk over all coordinates in blocks of rows, each with the number of its first row."""
    start = 0
    for kind in map_.groups:
        points = map_.coordinates(kind)
        for row in range(0, len(points), _ROWS):
            block = points[row : row + _ROWS]
            yield start, np.asarray(block)
            start += len(block)


def _texts(block: FloatArray) -> list[Any]:
    """Write every column of numbers as text, with as many digits as tell a number from all others."""
    return [pa.array(np.ascontiguousarray(column)).cast(pa.string()) for column in block.T]


def _cells(column: Any) -> Any:
    """Write a column as text without tabs and line ends, which end a cell; empty where a value is missing."""
    texts = column.combine_chunks().cast(pa.string()).fill_null("")
    return pc.replace_substring_regex(texts, r"[\t\r\n]+", " ")


def _on_one_line(name: str) -> str:
    return re.sub(r"[\t\r\n]+", " ", name)


def _lines(columns: list[Any], separator: str) -> bytes:
    """Join columns of text into lines."""
    joined = pc.binary_join_element_wise(*columns, separator).to_pylist()
    return "".join(f"{line}\n" for line in joined).encode()
