"""The tables of a study, read into one data set: things by kind, with their features, and relations."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relscape import progress
from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.labels import match, number
from relscape.data.relation import gather_pairs
from relscape.errors import DataError, RelscapeError, RelscapeWarning, listing
from relscape.project.sections import about
from relscape.project.study import Kind, RelationTable, Study
from relscape.project.study_kinds import check_columns, read_kind, scaled_counts
from relscape.protocols import SparseArray, TextArray

__all__ = ["LoadedStudy", "load_study"]


@dataclass(frozen=True, eq=False)
class LoadedStudy:
    """The data of a study, and how the features of every kind were read, to read more of the same."""

    study: Study
    data: RelationalData
    reading: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class _Pairs:
    """A relation as its file has it: ids of either side, and weights between them."""

    table: RelationTable
    ids: tuple[TextArray, TextArray]
    matrix: SparseArray


def load_study(study: Study, known: dict[Any, Any] | None = None) -> LoadedStudy:
    """Read all tables that a study names.

    A kind with a table has the things of its table, in their order; what relations say of others is left out,
    with a warning that counts and names some. A kind without one has the things that relations name, sorted.

    Parameters
    ----------
    study : Study
        What ``read_study`` gives.
    known : dict, optional
        Tables that were read already, to which this adds: a series of models reads each once.

    Returns
    -------
    LoadedStudy
        ``data`` has one entity set a kind and one relation a table of pairs, by the names of the file.
    """
    tables = [*study.kinds.values(), *study.relations.values()]
    described: dict[str, EntitySet] = {}
    reading: dict[str, dict[str, Any]] = {}
    pairs: list[_Pairs] = []
    known = {} if known is None else known
    with progress.task("reading", len(tables)) as task:
        for kind in study.kinds.values():
            if kind.tables:
                if kind not in known:
                    known[kind] = read_kind(study, kind)
                described[kind.name], reading[kind.name] = known[kind]
            task.advance()
        for table in study.relations.values():
            if table not in known:
                known[table] = _read_relation(study, table)
            pairs.append(known[table])
            task.advance()
    entities = {
        name: described[name] if name in described else EntitySet(name, _mentioned(study, name, pairs))
        for name in study.kinds
    }
    relations = {given.table.name: _placed(study, given, entities, described) for given in pairs}
    for kind in study.kinds.values():
        if kind.features_from is not None:
            relation = relations[kind.features_from]
            entities[kind.name] = _with_counts(study, kind, entities, relation)
            reading[kind.name] = _reading_of_pairs(study, kind)
    return LoadedStudy(study, RelationalData(entities.values(), relations.values()), reading)


# ---------------------------------------------------------------------- relations


def _read_relation(study: Study, table: RelationTable) -> _Pairs:
    """Read one table of pairs; weights may be negative, where a table says what is unlike."""
    from relscape.sources.tables import read

    part, files = f"relations.{table.name}", study.located(table.tables)
    ends = {
        "from_column" if table.source_column != table.source else "from": table.source_column,
        "to_column" if table.target_column != table.target else "to": table.target_column,
    }
    named = ends if table.weight is None else {**ends, "weight": table.weight}
    check_columns(study, part, files, named)
    same_kind = table.source if table.source == table.target else None
    try:
        data = read(
            files,
            table.source_column,
            table.target_column,
            table.weight,
            same_kind=same_kind,
            allow_negative=True,
        )
    except RelscapeError:
        _refuse_weights(study, table, files)
        with about(study.where(part)):
            raise
    relation = data.relation()
    return _Pairs(
        table, (data.entities[relation.rows].ids, data.entities[relation.columns].ids), relation.matrix
    )


def _refuse_weights(study: Study, table: RelationTable, files: list[str]) -> None:
    """Where a table of pairs cannot be read, complain of its weights by their key, if it is for these."""
    from relscape.sources.checks import refuse_bad_weights, refuse_mixed_numbers
    from relscape.sources.sessions import opened

    if table.weight is None:
        return
    with about(study.where(f"relations.{table.name}", "weight")), opened(files) as session:
        refuse_bad_weights(session, table.weight, allow_negative=True)
        for scan in session.scans:
            refuse_mixed_numbers(session, scan, [table.weight])


def _mentioned(study: Study, kind: str, pairs: Sequence[_Pairs]) -> TextArray:
    """List the things of a kind without a table: all that relations name."""
    named = [
        given.ids[side]
        for given in pairs
        for side, own in enumerate((given.table.source, given.table.target))
        if own == kind
    ]
    if not named:
        raise DataError(
            f"{study.where(f'kinds.{kind}')}: it has no table, and no relation names things of this kind; "
            "give either, or leave it out."
        )
    return number(np.concatenate(named))[0]


def _placed(
    study: Study, given: _Pairs, entities: Mapping[str, EntitySet], described: Mapping[str, EntitySet]
) -> Relation:
    """Lay a relation out between the things of its two kinds; pairs of others are left out and told."""
    table = given.table
    cells = given.matrix.tocoo()
    places, known = [], np.ones(cells.nnz, dtype=bool)
    for side, (kind, key) in enumerate(((table.source, "from"), (table.target, "to"))):
        at = match(given.ids[side], entities[kind].ids)
        told = side == 1 and table.source == table.target  # of one kind, both columns share their ids
        if kind in described and (at < 0).any() and not told:
            _tell_of_strangers(study, table, key, kind, given.ids[side][at < 0], len(at))
        known &= at[cells.coords[side]] >= 0
        places.append(at[cells.coords[side]])
    if cells.nnz and not known.any():
        raise DataError(
            f"{study.where(f'relations.{table.name}')}: none of its {cells.nnz:,} pairs joins things that "
            f"are there; {listing(given.ids[0], 3)} are no {table.source!r}, or {listing(given.ids[1], 3)} "
            f"no {table.target!r}. Check that all tables write ids alike."
        )
    shape = (len(entities[table.source]), len(entities[table.target]))
    matrix = gather_pairs(cells.data[known], places[0][known], places[1][known], shape)
    return Relation(table.name, table.source, table.target, matrix)


def _tell_of_strangers(
    study: Study, table: RelationTable, key: str, kind: str, strangers: TextArray, total: int
) -> None:
    warnings.warn(
        f"{study.where(f'relations.{table.name}', key)}: {len(strangers):,} of {total:,} ids are not in the "
        f"table of kind {kind!r} ({listing(strangers, 3)}); what is said of them is left out.",
        RelscapeWarning,
        stacklevel=4,
    )


# ---------------------------------------------------------------------- features from relations


def _with_counts(
    study: Study, kind: Kind, entities: Mapping[str, EntitySet], relation: Relation
) -> EntitySet:
    """Take the other side of a relation as the features of a kind."""
    outward = relation.rows == kind.name
    matrix = relation.matrix if outward else csr_array(relation.matrix.T)
    names = entities[relation.columns if outward else relation.rows].ids
    with about(study.where(f"kinds.{kind.name}", "scaling")):
        features = scaled_counts(matrix, kind.scaling)
    return replace(entities[kind.name], features=features, feature_names=names)


def _reading_of_pairs(study: Study, kind: Kind) -> dict[str, Any]:
    table = study.relations[str(kind.features_from)]
    columns = (table.source_column, table.target_column)
    own, other = columns if table.source == kind.name else columns[::-1]
    told = {"form": "pairs", "rows": own, "columns": other, "scaling": kind.scaling}
    return told | ({"weight": table.weight} if table.weight is not None else {})
