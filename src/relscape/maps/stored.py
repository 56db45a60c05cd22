"""A saved map that stays on the disk: questions are answered by DuckDB over its Parquet files."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from relscape.errors import DataError, FormatError, ParameterError, UnknownNameError
from relscape.maps.files import storage_errors
from relscape.maps.map import Map
from relscape.maps.nearby import Neighbor, check_count, split_query
from relscape.maps.owned import FORMAT, VERSION
from relscape.maps.spelling import expanded
from relscape.maps.state import read_json
from relscape.maps.store import group_of_table, inside
from relscape.maps.told import check_header
from relscape.protocols import FloatArray

__all__ = ["StoredMap"]

_MEMORY = "2GB"


class StoredMap:
    """A map that may be larger than memory: what is near a thing, and samples small enough to look at.

    Parameters
    ----------
    path : path
        A map as ``Map.save`` writes it. ``KIND.parquet`` may also be a folder of Parquet files, written part
        by part, whose names sort in their order.

    Examples
    --------
    >>> import tempfile
    >>> from relscape.datasets import load_smoking
    >>> from relscape.models.spectral import CorrespondenceAnalysis
    >>> folder = tempfile.mkdtemp()
    >>> path = CorrespondenceAnalysis().fit(load_smoking()).to_map().save(folder + "/smoking")
    >>> StoredMap(path).neighbors("staff:SE", among="smoking", k=1)[0].id
    'none'
    """

    def __init__(self, path: str | Path) -> None:
        self.path = expanded(path)
        with storage_errors("read", self.path):
            self._header = read_json(self.path / "map.json", FORMAT, VERSION)
        try:
            check_header(self._header)
        except ValueError as error:
            raise FormatError(f"{self.path}: this map is damaged ({error}); make it again.") from error
        self._entries = {entry["kind"]: entry for entry in self._header["groups"]}
        self.n_components = int(self._header["n_components"])

    @property
    def groups(self) -> tuple[str, ...]:
        """Give the kinds of things on the map."""
        return tuple(self._entries)

    def size(self, kind: str) -> int:
        """Count the things of a kind."""
        return int(self._entry(kind)["size"])

    def coordinates(self, kind: str, id: str) -> FloatArray:
        """Give the place of one thing."""
        axes = ", ".join(f"z{axis}" for axis in range(self.n_components))
        found = self._rows(f"SELECT {axes} FROM {self._table(kind)} WHERE id = ? LIMIT 1", [id])
        if not found:
            raise DataError(f"{self.path}: there is no {kind} {id!r} on this map; check how it is written.")
        return np.array(found[0], dtype=np.float64)

    def neighbors(
        self, query: str | tuple[str, str], among: str | None = None, k: int = 10
    ) -> list[Neighbor]:
        """Give the ``k`` things nearest to one, among a kind or all, itself left out: one pass over files."""
        kind, name = split_query(query, self.groups) if isinstance(query, str) else query
        count, point = check_count(k), self.coordinates(kind, name)
        squares = " + ".join(f"(z{axis} - {float(value)!r}) ** 2" for axis, value in enumerate(point))
        found: list[Neighbor] = []
        for other in self.groups if among is None else (among,):
            rows = self._rows(
                f"SELECT id, label, sqrt({squares}) AS far FROM {self._table(other)} "
                f"ORDER BY far, id LIMIT {count + 1}",
                [],
            )
            found += [Neighbor(other, *row) for row in rows if (other, row[0]) != (kind, name)]
        return sorted(found, key=lambda neighbor: neighbor.distance)[:count]

    def sample(self, size: int = 100_000, random_state: int = 0) -> Map:
        """Draw things of all kinds, in proportion, at least one of each, as a map to look at or explore."""
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise ParameterError(f"size={size!r}: give a whole number of at least 1.")
        whole = sum(self.size(kind) for kind in self.groups)
        share = min(1.0, size / max(whole, 1))
        groups = []
        for kind, entry in self._entries.items():
            wanted = min(self.size(kind), max(1, round(share * self.size(kind))))
            drawn = self._connected(
                f"SELECT * FROM (SELECT *, row_number() OVER () AS place_ FROM {self._table(kind)}) "
                f"USING SAMPLE reservoir({wanted} ROWS) REPEATABLE ({int(random_state)})",
                [],
                lambda found: found.to_arrow_table(),
            )
            table = drawn.sort_by("place_").drop_columns("place_")
            groups.append(group_of_table(table, entry, self.n_components))
        header = self._header
        told = {"sample": {"of": whole, "random_state": int(random_state)}}
        return Map(
            groups,
            model=header["model"],
            parameters=header["parameters"],
            scores=header["scores"],
            provenance={**header["provenance"], **told},
            drawn_by=header["layout"],
        )

    def _entry(self, kind: str) -> Any:
        if kind not in self._entries:
            raise UnknownNameError("kind", kind, self._entries, str(self.path))
        return self._entries[kind]

    def _table(self, kind: str) -> str:
        """Give SQL for the files of a kind; nothing in a path is a pattern or ends the text."""
        place = inside(self.path, self._entry(kind)["file"])
        quoted = re.sub(r"([*?\[\]])", r"[\1]", str(place)).replace("'", "''")
        files = f"{quoted}/*.parquet" if place.is_dir() else quoted
        return f"read_parquet('{files}', hive_partitioning=false)"

    def _rows(self, sql: str, given: list[Any]) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._connected(sql, given, lambda found: found.fetchall())
        return rows

    def _connected(self, sql: str, given: list[Any], take: Any) -> Any:
        import duckdb

        with tempfile.TemporaryDirectory(prefix="relscape-") as scratch:
            settings = {"memory_limit": _MEMORY, "temp_directory": scratch}
            with duckdb.connect(":memory:", config=settings) as connection:
                try:
                    return take(connection.sql(sql, params=given))
                except duckdb.Error as error:
                    raise FormatError(
                        f"{self.path}: this map cannot be read ({str(error).splitlines()[0]}); make it again."
                    ) from error
