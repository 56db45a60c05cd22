"""Vectors of entities and relations for other programs."""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from relscape.errors import FormatError
from relscape.maps import Map
from relscape.maps.files import atomic_file

__all__ = ["EXPORTS", "export_vectors"]

EXPORTS = (".parquet", ".csv", ".vec")


def export_vectors(joint: Map, path: Path) -> None:
    """Write the points of a map as a table, or as word2vec writes vectors: a name and its numbers a line.

    Blanks in a name become underscores there, for a blank ends the name.
    """
    if path.suffix not in EXPORTS:
        raise FormatError(f"{path}: expected a name ending in {', '.join(EXPORTS)}.")
    with atomic_file(path) as draft:
        if path.suffix == ".parquet":
            pq.write_table(joint.to_frame(), draft)
        elif path.suffix == ".csv":
            pa_csv.write_csv(joint.to_frame(), draft)
        else:
            _write_words(joint, draft)


def _write_words(joint: Map, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{len(joint)} {joint.n_components}\n")
        for kind in joint.groups:
            group = joint.group(kind)
            for name, row in zip(group.ids, group.coordinates.tolist(), strict=True):
                file.write(f"{kind}:{'_'.join(name.split())} {' '.join(f'{x:.7g}' for x in row)}\n")
