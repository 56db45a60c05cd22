"""Several tables of pairs at once: each file a relation, named by its first two columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array

from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.labels import number
from relscape.errors import DataError, RelscapeWarning, UnknownNameError, listing
from relscape.protocols import IntArray
from relscape.sources.files import Origin, Paths
from relscape.sources.scans import Scan
from relscape.sources.sessions import Session, opened
from relscape.sources.tables import read

__all__ = ["PairFile", "pair_files", "read_several", "relate_the_same", "united"]


@dataclass(frozen=True)
class PairFile:
    """A file as a table of pairs: its first two columns, that of weights, how many there are, the others."""

    path: Origin
    rows: str
    columns: str
    weight: str | None
    width: int
    unused: tuple[str, ...]

    @property
    def within(self) -> bool:
        """Whether both columns hold one kind: the second is named as the first with ``_2`` at its end."""
        return self.columns == f"{self.rows}_2"

    @property
    def kinds(self) -> tuple[str, str]:
        """The kinds that the file relates."""
        return self.rows, self.rows if self.within else self.columns


def pair_files(
    paths: Paths, weight: str | None = None, encoding: str | None = None, sheet: str | None = None
) -> list[PairFile]:
    """Look at the heads of files as tables of pairs.

    The weights are the column named, in files that have it, or else the third where it holds numbers.
    """
    with opened(paths, encoding, sheet) as session:
        files = [_pair_file(session, scan, weight) for scan in session.scans]
        if weight is not None and not any(file.weight == weight for file in files):
            known = dict.fromkeys(column for scan in session.scans for column in scan.columns)
            raise UnknownNameError("column", weight, known, "any of the files")
    return files


def _pair_file(session: Session, scan: Scan, weight: str | None) -> PairFile:
    names = list(scan.columns)
    if len(names) < 2:
        raise DataError(
            f"{scan.path} has one column, {listing(names)}; a table of pairs has two columns of ids, and "
            "weights in a third where there are some."
        )
    if weight not in names[2:]:
        weight = names[2] if len(names) > 2 and _numeric(session, scan, names[2]) else None
    unused = tuple(name for name in names[2:] if name != weight)
    return PairFile(scan.path, names[0], names[1], weight, len(names), unused)


def _numeric(session: Session, scan: Scan, name: str) -> bool:
    """Tell whether a column holds numbers; what among them is none is a fault, which reading will name."""
    if scan.column(name).numeric:
        return True
    [(numbers, total)] = session.rows(
        f"SELECT count({scan.number(name)}), count({scan.column(name).sql}) FROM {scan.source}"
    )
    return bool(numbers > 0 or total == 0)


def relate_the_same(files: Iterable[PairFile]) -> bool:
    """Tell whether all files relate the same two kinds."""
    return len({frozenset(file.kinds) for file in files}) == 1


def read_several(
    paths: Paths, weight: str | None = None, *, encoding: str | None = None, sheet: str | None = None
) -> RelationalData:
    """Read relations of any number of kinds from tables of pairs.

    Parameters
    ----------
    paths : path or sequence of paths
        Files or globs. The first two columns of each hold the ids and name the kinds; a second one named as
        the first with ``_2`` at its end (word, word_2) holds things of the same kind. Files of the same two
        kinds are read as one relation.
    weight : str, optional
        The column of weights, in files that have it; elsewhere the third column is, if it holds numbers, and
        every line counts 1 without any.
    encoding, sheet : str, optional
        As in ``read``.
    """
    groups: dict[frozenset[str], list[PairFile]] = {}
    for file in pair_files(paths, weight, encoding, sheet):
        _refuse_wide(file, weight)
        groups.setdefault(frozenset(file.kinds), []).append(file)
    return united([_read_group(files, encoding, sheet) for files in groups.values()])


def _refuse_wide(file: PairFile, weight: str | None) -> None:
    if file.width > 3 and weight is None:
        raise DataError(
            f"{file.path} has {file.width} columns; a table of pairs among several has two columns of ids, "
            "which name their kinds, and weights in a third. If its first two are the ids, name the one with "
            "the weights (--weight)."
        )
    if file.unused:
        warnings.warn(
            f"{file.path}: the columns {listing(file.unused)} are not used; the first two, {file.rows!r} "
            f"and {file.columns!r}, are taken as related.",
            RelscapeWarning,
            stacklevel=4,
        )


def _read_group(files: list[PairFile], encoding: str | None, sheet: str | None) -> RelationalData:
    first = files[0]
    for file in files:
        if file.weight != first.weight:
            told = [f"{f.path}: " + (repr(f.weight) if f.weight else "none") for f in (first, file)]
            raise DataError(
                f"two files relate {first.kinds[0]!r} and {first.kinds[1]!r}, with different columns of "
                f"weights ({', '.join(told)}); call them alike."
            )
        if file.within != first.within:
            raise DataError(f"{file.path} and {first.path} name kind {first.rows!r} differently.")
    same_kind = first.rows if first.within else None
    paths = [file.path for file in files]
    data = read(
        paths, first.rows, first.columns, first.weight, same_kind=same_kind, encoding=encoding, sheet=sheet
    )
    relation = data.relation()
    name = "-".join(first.kinds)
    return RelationalData(
        data.entities.values(), [Relation(name, relation.rows, relation.columns, relation.matrix)]
    )


def united(parts: Iterable[RelationalData]) -> RelationalData:
    """Join data of several relations: the things of a kind are all that any relation knows, by their ids."""
    parts = list(parts)
    kinds = dict.fromkeys(kind for part in parts for kind in part.kinds)
    entities, places = {}, [dict[str, IntArray]() for _ in parts]
    for kind in kinds:
        holding = [at for at, part in enumerate(parts) if kind in part.entities]
        given = [parts[at].entities[kind].ids for at in holding]
        ids, numbers = number(np.concatenate(given))
        entities[kind] = EntitySet(kind, ids)
        for at, own in zip(holding, np.split(numbers, np.cumsum([len(g) for g in given])[:-1]), strict=True):
            places[at][kind] = own
    relations = []
    for part, place in zip(parts, places, strict=True):
        for relation in part.relations.values():
            entries = relation.matrix.tocoo()
            i, j = entries.coords
            shape = len(entities[relation.rows]), len(entities[relation.columns])
            cells = (place[relation.rows][i], place[relation.columns][j])
            matrix = csr_array(coo_array((entries.data, cells), shape=shape))
            relations.append(Relation(relation.name, relation.rows, relation.columns, matrix))
    return RelationalData(entities.values(), relations)
