"""Numbering the names of facts, and saying what is odd about the triples that come out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from relscape.data.facts import ROLES, Facts
from relscape.data.labels import as_text, check_unique, number
from relscape.errors import DataError, RelscapeWarning, UnknownNameError, listing
from relscape.protocols import BoolArray, FloatArray, IntArray, TextArray

__all__ = [
    "checked_weights",
    "contained",
    "distinct_rows",
    "number_facts",
    "triple_keys",
    "warn_of_shared_triples",
    "warn_of_unseen_names",
]


def number_facts(
    parts: Mapping[str, Facts], entities: Iterable[Any] | None, relations: Iterable[Any] | None
) -> tuple[dict[str, IntArray], TextArray, TextArray]:
    """Give every entity and relation a number, the same in all splits.

    Without given names the distinct ones are sorted. With them, a whole number in the facts is a position
    among the names, and a text is one of them.
    """
    entity_columns = [facts.columns[side] for side in (0, 2) for facts in parts.values()]
    entity_facts = [(facts, ROLES[side]) for side in (0, 2) for facts in parts.values()]
    entity_names, entity_codes = _numbered(entity_columns, entity_facts, entities, "entities")
    relation_columns = [facts.columns[1] for facts in parts.values()]
    relation_facts = [(facts, ROLES[1]) for facts in parts.values()]
    relation_names, relation_codes = _numbered(relation_columns, relation_facts, relations, "relations")
    count = len(parts)
    triples = {
        split: np.column_stack([entity_codes[k], relation_codes[k], entity_codes[count + k]])
        for k, split in enumerate(parts)
    }
    return triples, entity_names, relation_names


def _numbered(
    columns: Sequence[Any],
    facts: Sequence[tuple[Facts, str]],
    given: Iterable[Any] | None,
    parameter: str,
) -> tuple[TextArray, list[IntArray]]:
    """Give several columns of the same things one numbering, by the names given or those they hold."""
    if given is not None:
        names = as_text(given, parameter)
        check_unique(names, parameter)
        coded = [
            _looked_up(column, names, *place, parameter) for column, place in zip(columns, facts, strict=True)
        ]
        return names, coded
    names, codes = number(_joined([column for column in columns if len(column)]), parameter)
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return names, np.split(codes, ends)


def _joined(columns: Sequence[Any]) -> Any:
    """Lay columns end to end, as text where they are of several types."""
    if len({column.type for column in columns}) > 1:
        if all(pa.types.is_integer(column.type) for column in columns):
            columns = [column.cast(pa.int64()) for column in columns]
        else:
            columns = [pa.array(as_text(column), pa.string()) for column in columns]
    return pa.concat_arrays(columns)


def _looked_up(column: Any, names: TextArray, facts: Facts, role: str, parameter: str) -> IntArray:
    """Find the positions of a column's entries among given names."""
    if pa.types.is_integer(column.type):
        codes = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.int64)
        outside = np.flatnonzero((codes < 0) | (codes >= len(names)))
        if outside.size:
            row = int(outside[0])
            raise DataError(
                f"{facts.place(row)}: the {role} is {codes[row]}, but there are {len(names)} {parameter}, "
                f"numbered from 0 to {len(names) - 1}."
            )
        return codes
    text = column if pa.types.is_string(column.type) else pa.array(as_text(column), pa.string())
    found = pc.index_in(text, value_set=pa.array(names, pa.string())).fill_null(-1)
    codes = np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)
    unknown = np.flatnonzero(codes < 0)
    if unknown.size:
        row = int(unknown[0])
        raise UnknownNameError(role, text[row].as_py(), names, facts.place(row))
    return codes


def triple_keys(triples: IntArray, n_entities: int, n_relations: int) -> IntArray:
    """Give every triple one integer, so that triples can be compared, sorted and looked up."""
    if n_entities * n_entities * n_relations >= 2**63:
        raise DataError(
            f"{n_entities} entities and {n_relations} relations are more than one integer a triple can hold; "
            "split the graph into smaller ones."
        )
    return (triples[:, 0] * n_relations + triples[:, 1]) * n_entities + triples[:, 2]


def contained(keys: IntArray, among: IntArray) -> BoolArray:
    """Say of every integer whether it is among others; by sorting, which is quick for large ones."""
    if not among.size:
        return np.zeros(keys.size, dtype=bool)
    ordered = np.sort(among)
    at = np.minimum(np.searchsorted(ordered, keys), ordered.size - 1)
    return np.asarray(ordered[at] == keys)


def distinct_rows(keys: IntArray, facts: Facts) -> IntArray:
    """Find the rows to keep, the first of every triple, and warn of those that repeat one."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    kept = np.sort(first)
    if kept.size < keys.size:
        row = int(np.setdiff1d(np.arange(keys.size), kept)[0])
        count = keys.size - kept.size
        repeats = "1 triple repeats an earlier one and is" if count == 1 else f"{count:,} triples repeat"
        repeats += "" if count == 1 else " earlier ones and are"
        earlier = facts.place(int(first[inverse[row]]))
        warnings.warn(
            f"{facts.name}: {repeats} left out, the first at {facts.place(row)} (as at {earlier}).",
            RelscapeWarning,
            stacklevel=4,
        )
    return kept


def warn_of_shared_triples(keys: Mapping[str, IntArray], parts: Mapping[str, Facts]) -> None:
    """Warn of triples that two splits share: what is tested must not have been trained on."""
    for one, other in combinations(keys, 2):
        shared = np.flatnonzero(contained(keys[other], keys[one]))
        if shared.size:
            count = "1 triple is" if shared.size == 1 else f"{shared.size:,} triples are"
            warnings.warn(
                f"{count} in both {parts[one].name} and {parts[other].name}, the first is number "
                f"{shared[0]} of {other}: results on {other} will look better than they are. Drop them "
                "from one of the two.",
                RelscapeWarning,
                stacklevel=4,
            )


def warn_of_unseen_names(
    triples: Mapping[str, IntArray], parts: Mapping[str, Facts], entities: TextArray, relations: TextArray
) -> None:
    """Warn of entities and relations that are asked about but never trained."""
    kinds = (("entity", "entities", entities, [0, 2]), ("relation", "relations", relations, [1]))
    for one, many, names, columns in kinds:
        trained = _occurring(triples["train"][:, columns], len(names))
        for split in ("valid", "test"):
            unseen = np.flatnonzero(_occurring(triples[split][:, columns], len(names)) & ~trained)
            if unseen.size:
                single = unseen.size == 1
                count = f"1 {one} does" if single else f"{unseen.size:,} {many} do"
                kept = (
                    "It is kept, but nothing can be learned of it"
                    if single
                    else ("They are kept, but nothing can be learned of them")
                )
                warnings.warn(
                    f"{parts[split].name}: {count} not occur in the training triples "
                    f"({listing(names[unseen])}). {kept}.",
                    RelscapeWarning,
                    stacklevel=4,
                )


def _occurring(numbers: IntArray, size: int) -> BoolArray:
    found = np.zeros(size, dtype=bool)
    found[numbers] = True
    return found


def checked_weights(weights: Any, facts: Facts) -> FloatArray | None:
    """Check one positive, finite weight a training triple."""
    given = facts.weights if weights is None else weights
    if given is None:
        return None
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"weights of {facts.name}: numbers are needed, {error}.") from error
    if values.shape != (len(facts),):
        raise DataError(f"{facts.name} has {len(facts)} triples but weights of shape {values.shape}.")
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if bad.size:
        row = int(bad[0])
        raise DataError(
            f"{facts.place(row)}: the weight is {values[row]}; weights must be positive and finite. Drop "
            f"triples that do not count ({bad.size} have no such weight)."
        )
    return values
