"""The tables and the guidance a projection is fitted on, brought into one form."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from relscape.data import EntitySet, RelationalData
from relscape.data.guidance import Guidance, as_guidance
from relscape.data.labels import as_text, match
from relscape.errors import DataError, RelscapeWarning, listing
from relscape.matrix.guided import Blocks, guidance_degrees
from relscape.models.feature_inputs import Features, read_features
from relscape.models.inputs import matrix_digest
from relscape.protocols import BlockedTable

__all__ = ["GivenKinds", "KindTable", "read_kinds", "read_new_kind"]


@dataclass(frozen=True, eq=False)
class KindTable:
    """The things of one kind, their features (n × d; None where there are none) and the features' names."""

    entities: EntitySet
    matrix: Any
    columns: EntitySet | None


@dataclass(frozen=True, eq=False)
class GivenKinds:
    """All kinds that guidance speaks of, the guidance between them, and a digest of both.

    ``left_out`` are the kinds that were given but are not among them.
    """

    tables: dict[str, KindTable]
    blocks: Blocks
    fingerprint: str
    left_out: tuple[str, ...] = ()


def read_kinds(X: Any, guidance: Any) -> GivenKinds:
    """Read tables by kind, or a data set, and what guides them; kinds without guidance are left out."""
    if isinstance(X, RelationalData):
        guidance = _guidance_in(X, guidance)
        tables = {kind: _of_entities(entities) for kind, entities in X.entities.items()}
    elif isinstance(X, Mapping) and X:
        guidance = as_guidance(guidance)
        tables = {str(kind): _read_table(str(kind), given, guidance) for kind, given in X.items()}
    else:
        raise DataError(
            'give a table for every kind, such as {"image": X, "tag": None}, or a RelationalData; this is '
            f"{'an empty dict' if isinstance(X, Mapping) else f'of type {type(X).__name__}'}."
        )
    sizes = {kind: len(table.entities) for kind, table in tables.items()}
    blocks = guidance.resolved(sizes, {kind: table.entities.ids for kind, table in tables.items()})
    if not blocks:
        raise DataError(
            "there is no guidance: no pair has a weight other than 0, so nothing says what belongs together."
        )
    guided = {kind for pair in blocks for kind in pair}
    lost = [kind for kind in tables if kind not in guided]
    if lost:
        warnings.warn(
            f"nothing guides {listing(lost)}, so they have no place beside the others and are left out.",
            RelscapeWarning,
            stacklevel=4,
        )
    tables = {kind: table for kind, table in tables.items() if kind in guided}
    _warn_of_unknown(tables, blocks)
    return GivenKinds(tables, blocks, _digest(tables, blocks), tuple(lost))


def _warn_of_unknown(tables: Mapping[str, KindTable], blocks: Blocks) -> None:
    """Tell of things that nothing is known of: in a kind without features, those without guidance."""
    _, degrees = guidance_degrees(blocks, {kind: len(table.entities) for kind, table in tables.items()})
    for kind, table in tables.items():
        unknown = table.entities.ids[degrees[kind] == 0]
        if table.matrix is None and unknown.size:
            warnings.warn(
                f"of {unknown.size} {kind} things neither features nor guidance are known, so they are put "
                f"in the middle: {listing(unknown)}.",
                RelscapeWarning,
                stacklevel=5,
            )


def _guidance_in(data: RelationalData, guidance: Any) -> Guidance:
    """Take the relations of a data set as guidance: all as similar, or those that are named, by weight."""
    if guidance is None:
        return Guidance.from_relations(data, dict.fromkeys(data.relations, 1.0))
    if isinstance(guidance, Mapping) and all(isinstance(name, str) for name in guidance):
        return Guidance.from_relations(data, guidance)
    return as_guidance(guidance)


def _read_table(kind: str, given: Any, guidance: Guidance) -> KindTable:
    if given is None:
        return KindTable(EntitySet(kind, guidance.names_of(kind)), None, None)
    if isinstance(given, EntitySet):
        return _of_entities(replace(given, kind=kind))
    if isinstance(given, BlockedTable):
        names = getattr(given, "feature_names", as_text(range(given.shape[1])))
        things = getattr(given, "entities", None) or EntitySet(kind, as_text(range(given.shape[0])))
        return KindTable(replace(things, kind=kind), given, EntitySet(f"{kind} feature", names))
    read = _features_of(kind, given)
    return KindTable(replace(read.samples, kind=kind), read.matrix, read.features)


def _of_entities(entities: EntitySet) -> KindTable:
    plain = replace(entities, features=None, feature_names=None)
    if entities.features is None:
        return KindTable(plain, None, None)
    read = _features_of(entities.kind, entities.features)
    names = read.features.ids if entities.feature_names is None else entities.feature_names
    return KindTable(plain, read.matrix, EntitySet(f"{entities.kind} feature", names))


def _features_of(kind: str, given: Any) -> Any:
    """Read one feature table the way all models do; messages say of which kind."""
    try:
        return read_features(BaseEstimator(), given)
    except (ValueError, TypeError) as error:
        raise DataError(f"kind {kind!r}: {error}") from error


def read_new_kind(kind: str, given: Any, columns: EntitySet | None) -> tuple[Features, EntitySet]:
    """Read the features of new things of a kind, in the order they had in the fit.

    Frames and entity sets are matched by the names of their features: what the model has never seen is left
    out with a warning, and what is lacking is refused.
    """
    if columns is None:
        raise DataError(
            f"kind {kind!r} was fitted without features, by which new things are placed; only the {kind} "
            "things of the fit have a place."
        )
    if isinstance(given, EntitySet):
        table = _of_entities(replace(given, kind=kind))
        if table.matrix is None or table.columns is None:
            raise DataError(f"the new things of kind {kind!r} have no features, by which they are placed.")
        entities, matrix, names = table.entities, table.matrix, table.columns.ids
    else:
        read = _features_of(kind, given)
        entities, matrix, names = replace(read.samples, kind=kind), read.matrix, read.features.ids
    if names.tolist() == columns.ids.tolist():
        return matrix, entities
    if names.tolist() == as_text(range(len(names))).tolist():
        if matrix.shape[1] != len(columns):
            raise DataError(
                f"kind {kind!r}: the new things have {matrix.shape[1]} features, but {len(columns)} features "
                "were fitted."
            )
        return matrix, entities
    at = match(columns.ids, names)
    if (at < 0).any():
        raise DataError(
            f"kind {kind!r}: the new things lack {(at < 0).sum()} of the {len(columns)} features of the fit: "
            f"{listing(columns.ids[at < 0])}."
        )
    extra = names[~np.isin(names, columns.ids)]
    if extra.size:
        warnings.warn(
            f"kind {kind!r}: {extra.size} features were not there when the model was fitted and are left "
            f"out: {listing(extra)}.",
            RelscapeWarning,
            stacklevel=4,
        )
    return matrix[:, at], entities


def _digest(tables: Mapping[str, KindTable], blocks: Blocks) -> str:
    digest = hashlib.sha256()
    for kind, table in tables.items():
        digest.update("\0".join([kind, *table.entities.ids]).encode())
        if table.matrix is not None:
            spread = isinstance(table.matrix, BlockedTable)
            digest.update((table.matrix.fingerprint if spread else matrix_digest(table.matrix)).encode())
    for pair, block in blocks.items():
        digest.update("\0".join(pair).encode())
        digest.update(matrix_digest(block).encode())
    return digest.hexdigest()
