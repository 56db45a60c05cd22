"""The file format of a map: a directory of JSON, Parquet and safetensors, readable by anything.

::

    map.json                 format version, model, parameters, scores, provenance, what files there are
    KIND.parquet             id, label, z0 … z(k-1), x, y, fields; one row a thing. May be a folder of such
                             files, whose names sort in their order
    relations/NAME.parquet   from, to, weight (when asked for)
    arrays.safetensors       prototypes, responses, alignments (when there are any)
    model/                   model.json, model.safetensors (when new things may be placed)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse import coo_array, csr_array

from relscape.data import Relation
from relscape.data.labels import match
from relscape.errors import FormatError, StorageError
from relscape.maps.files import (
    read_directory,
    replace_directory,
    replaceable_files,
    restore_directory,
    storage_errors,
)
from relscape.maps.group import Group, field_columns, group_table
from relscape.maps.map import Map
from relscape.maps.owned import ARRAYS, FORMAT, VERSION, in_order, owned_files
from relscape.maps.spelling import expanded, meant
from relscape.maps.state import (
    ModelState,
    check_regular,
    read_arrays,
    read_json,
    write_arrays,
    write_json,
)
from relscape.maps.told import check_header
from relscape.maps.weighing import asks_too_much, most_unpacked
from relscape.protocols import AnyArray, IntArray, TextArray
from relscape.threads import lacks_threads

__all__ = [
    "Parts",
    "check_target",
    "group_of_table",
    "inside",
    "read_map",
    "stored_provenance",
    "write_group",
    "write_map",
]

_DAMAGE = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, pa.ArrowException)
_CELL = 8  # bytes of a value in memory


class Parts(NamedTuple):
    """A kind that is not written from memory.

    ``write`` gets a folder, puts Parquet files into it, whose columns are those of the map's own group of the
    kind and whose names sort in their order, and gives the number of things in them.
    """

    kind: str
    write: Callable[[Path], int]


def write_map(map_: Map, path: Path, parts: Parts | None = None) -> Path:
    """Write a map as a directory, whole or not at all; an earlier map there is replaced."""
    replace_directory(path, lambda draft: _write(map_, draft, parts), owned_files)
    return path


def check_target(path: Path) -> None:
    """Refuse early a place where a map could not be written."""
    with storage_errors("write", path):
        replaceable_files(expanded(path), owned_files)


def stored_provenance(path: Path) -> dict[str, Any]:
    """Read of a map only what it was made from; nothing where that cannot be told."""
    try:
        provenance = read_json(path / "map.json", FORMAT, VERSION).get("provenance")
    except (StorageError, OSError):
        return {}
    return provenance if isinstance(provenance, dict) else {}


def _write(map_: Map, directory: Path, parts: Parts | None) -> None:
    kinds = dict(zip(map_.groups, _file_names(map_.groups), strict=True))
    links = dict(zip(map_.relations, _file_names(map_.relations), strict=True))
    groups = [_write_group(map_.group(kind), directory, file, parts) for kind, file in kinds.items()]
    header = {
        "format": FORMAT,
        "version": VERSION,
        "model": map_.model,
        "n_components": map_.n_components,
        "parameters": map_.parameters,
        "scores": map_.scores,
        "provenance": map_.provenance,
        "layout": map_.drawn_by,
        "groups": groups,
        "relations": [
            {
                "name": r.name,
                "rows": r.rows,
                "columns": r.columns,
                "directed": r.directed,
                "file": f"relations/{links[r.name]}",
            }
            for r in map_.relations.values()
        ],
        "arrays": ARRAYS if map_.arrays else None,
        "model_directory": "model" if map_.model_state else None,
    }
    if links:
        (directory / "relations").mkdir()
    for relation in map_.relations.values():
        table = _relation_table(map_, relation)
        pq.write_table(table, directory / "relations" / links[relation.name], compression="zstd")
    if map_.arrays:
        write_arrays(directory / ARRAYS, map_.arrays)
    if map_.model_state:
        (directory / "model").mkdir()
        map_.model_state.write(directory / "model")
    write_json(directory / "map.json", header)


def _file_names(names: Iterable[str]) -> list[str]:
    """Turn names of kinds into file names that are safe and distinct everywhere."""
    taken: set[str] = {"map", "arrays", "model", "relations"}
    files = []
    for name in names:
        stem = re.sub(r"[^\w-]+", "_", unicodedata.normalize("NFKC", name))[:50] or "_"
        candidate, count = stem, 2
        while candidate.casefold() in taken:
            candidate, count = f"{stem}-{count}", count + 1
        taken.add(candidate.casefold())
        files.append(f"{candidate}.parquet")
    return files


def _write_group(group: Group, directory: Path, file: str, parts: Parts | None) -> dict[str, Any]:
    """Write the things of a kind, or have them written, and describe them for the header."""
    size, place = len(group), directory / file
    if parts is not None and parts.kind == group.kind:
        place.mkdir()
        size = parts.write(place)
    else:
        write_group(group, place)
    return {
        "kind": group.kind,
        "file": file,
        "size": size,
        "labelled": group.labels is not None,
        "fields": field_columns(group),
    }


def write_group(group: Group, file: Path) -> None:
    """Write the things of a kind, or some of them, as a Parquet file."""
    pq.write_table(group_table(group).drop_columns("kind"), file, compression="zstd")


def _relation_table(map_: Map, relation: Relation) -> Any:
    entries = coo_array(relation.matrix)
    rows, columns = map_.group(relation.rows).ids, map_.group(relation.columns).ids
    return pa.table(
        {
            "from": pa.DictionaryArray.from_arrays(
                entries.coords[0].astype(np.int32), pa.array(rows, pa.string())
            ),
            "to": pa.DictionaryArray.from_arrays(
                entries.coords[1].astype(np.int32), pa.array(columns, pa.string())
            ),
            "weight": entries.data,
        }
    )


def _is_map(path: Path) -> bool:
    return (path / "map.json").is_file()


def read_map(path: Path) -> Map:
    """Read a map; anything damaged or not ours is refused with the file's name."""
    restore_directory(path, owned_files)
    if not path.exists():
        raise StorageError(f"there is no map at {path}.{meant(path, _is_map)}")
    if not path.is_dir():
        raise FormatError(f"{path} is a file; a map is a directory with map.json in it.")
    with storage_errors("read", path):
        if not any(path.iterdir()):
            raise FormatError(f"there is no map at {path}: that folder is empty; a map has map.json in it.")
        return read_directory(path, _read_whole)


def _read_whole(path: Path) -> Map:
    header = read_json(path / "map.json", FORMAT, VERSION)
    try:
        return _read(path, header)
    except MemoryError:  # pyarrow's is one of its exceptions, too
        raise
    except _DAMAGE as error:
        raise FormatError(f"{path}: this map is damaged ({error}); make it again.") from error


def _read(path: Path, header: dict[str, Any]) -> Map:
    check_header(header)
    groups = [_read_group(path, entry, header["n_components"]) for entry in header["groups"]]
    by_kind = {group.kind: group for group in groups}
    relations = [_read_relation(path, entry, by_kind) for entry in header["relations"]]
    return Map(
        groups,
        model=header["model"],
        parameters=header["parameters"],
        scores=header["scores"],
        provenance=header["provenance"],
        drawn_by=header["layout"],
        relations=relations,
        arrays=read_arrays(inside(path, header["arrays"])) if header["arrays"] else None,
        model_state=ModelState.read(path / "model") if header["model_directory"] else None,
    )


def inside(path: Path, name: str) -> Path:
    """Give the path of a file of the map; a name that points elsewhere is refused."""
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or PurePosixPath(name).is_absolute() or "\\" in name:
        raise FormatError(f"{path / 'map.json'} names a file outside the map: {name!r}.")
    return path / name


def _read_table(path: Path, most: int) -> Any:
    """Read a table, which may be in parts, of ``most`` rows at most."""
    parts = in_order(path) if path.is_dir() else []
    if parts:
        tables: list[Any] = []
        for part in parts:
            tables.append(_read_table(part, most - sum(table.num_rows for table in tables)))
        return pa.concat_tables(tables)
    try:
        check_regular(path)
        with pq.ParquetFile(path) as file:
            _check_size(path, file.metadata, most)
            return file.read()
    except FormatError:
        raise
    except MemoryError as error:
        if asks_too_much(error, path):
            raise FormatError(f"{path} is damaged: it asks for more memory than it can fill.") from error
        raise
    except FileNotFoundError as error:
        raise FormatError(f"{path} is missing: the map was damaged.") from error
    except (pa.ArrowException, OSError) as error:
        if lacks_threads(error):
            raise MemoryError(str(error)) from error
        raise FormatError(f"{path} is not a readable Parquet file ({error}).") from error


def _check_size(path: Path, found: Any, most: int) -> None:
    """Refuse a table of more rows than there can be, or that takes far more memory than its file."""
    if found.num_rows > most:
        raise FormatError(
            f"{path} says it holds {found.num_rows:,} rows, where the map has room for {most:,}: damaged."
        )
    stored = path.stat().st_size
    # Not the sizes of its columns: pyarrow ends the process where those are damaged.
    unpacked = sum(found.row_group(k).total_byte_size for k in range(found.num_row_groups))
    laid_out = found.num_rows * found.num_columns * _CELL  # one value, written once, may stand for all rows
    if max(unpacked, laid_out) > most_unpacked(path):
        raise FormatError(f"{path} is {stored:,} bytes, but says it holds {found.num_rows:,} rows: damaged.")


def _read_group(path: Path, entry: dict[str, Any], dimensions: int) -> Group:
    table = _read_table(inside(path, entry["file"]), entry["size"])
    if table.num_rows != entry["size"]:
        raise FormatError(f"{path / entry['file']} has {table.num_rows} rows, map.json says {entry['size']}.")
    return group_of_table(table, entry, dimensions)


def group_of_table(table: Any, entry: dict[str, Any], dimensions: int) -> Group:
    """Make a group of rows of its file, as the map's header describes it."""

    def column(name: str) -> AnyArray:
        return np.asarray(table.column(name).to_numpy())

    coordinates = np.column_stack([column(f"z{axis}") for axis in range(dimensions)])
    return Group(
        entry["kind"],
        column("id"),
        coordinates,
        column("label") if entry["labelled"] else None,
        np.column_stack([column("x"), column("y")]),
        {name: column(stored) for name, stored in entry["fields"].items()},
    )


def _read_relation(path: Path, entry: dict[str, Any], groups: dict[str, Group]) -> Relation:
    rows, columns = groups[entry["rows"]], groups[entry["columns"]]
    table = _read_table(inside(path, entry["file"]), len(rows) * len(columns))
    i = _places(table.column("from"), rows.ids)
    j = _places(table.column("to"), columns.ids)
    if (i < 0).any() or (j < 0).any():
        raise FormatError(f"{path / entry['file']} relates things that are not on the map.")
    weights = table.column("weight").to_numpy()
    matrix = csr_array(coo_array((weights, (i, j)), shape=(len(rows), len(columns))))
    return Relation(entry["name"], entry["rows"], entry["columns"], matrix, entry["directed"])


def _places(column: Any, ids: TextArray) -> IntArray:
    """Give the position among ``ids`` of every entry, looking each distinct one up once."""
    encoded = (
        column.unify_dictionaries() if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    )
    encoded = encoded.combine_chunks()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    places = np.append(match(encoded.dictionary.to_pylist(), ids), -1)
    return np.asarray(places[codes])
