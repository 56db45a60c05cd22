"""What a person may give COVA besides samples and labels: links, anchors, an arrangement to start from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.data import EntitySet
from relscape.data.frames import arrow_table
from relscape.data.labels import match, positions
from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.maps import Map
from relscape.objectives.cohort import Anchors
from relscape.protocols import BoolArray, FloatArray, IntArray, SparseArray, TextArray

__all__ = ["COHORT", "Start", "read_anchors", "read_links", "read_start", "turned_to"]

COHORT = "cohort"


@dataclass(frozen=True, eq=False)
class Start:
    """An arrangement to start from: places of samples (NaN = unknown) and of cohorts by name.

    ``alike`` tells whether it is of the size that is sought: a map by another variant may not be, and then
    only says which way round things are.
    """

    places: FloatArray
    prototypes: Mapping[str, FloatArray]
    alike: bool = True


# ---------------------------------------------------------------------- links


def read_links(links: Any, samples: EntitySet) -> SparseArray | None:
    """Read links between samples: an n × n array, or pairs (from, to) or triples with a weight.

    Samples in pairs are named by their position or their id; pairs may be the rows of a data frame.
    """
    if links is None:
        return None
    n = len(samples)
    if hasattr(links, "__arrow_c_stream__"):
        columns = arrow_table(links.reset_index(drop=True) if hasattr(links, "iloc") else links).columns
        return _joined(zip(*(column.to_pylist() for column in columns), strict=True), samples)
    if issparse(links) or isinstance(links, np.ndarray):
        if links.shape != (n, n):
            if not issparse(links) and links.ndim == 2 and links.shape[1] in (2, 3):
                return _joined(links.tolist(), samples)
            raise DataError(
                f"links have shape {links.shape}; expected {n} × {n}, one row and one column a sample."
            )
        matrix = csr_array(links, dtype=np.float64)
        if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
            raise DataError("links contain weights that are negative or not finite; expected 0 or more.")
        return matrix
    if isinstance(links, str | Mapping) or not isinstance(links, Iterable):
        raise DataError("links are an n × n array, or a list or data frame of pairs (from, to[, weight]).")
    return _joined(links, samples)


def _joined(pairs: Iterable[Any], samples: EntitySet) -> SparseArray:
    places = positions(samples.ids)
    rows, columns, weights = [], [], []
    for number, pair in enumerate(pairs):
        if isinstance(pair, str) or len(pair) not in (2, 3):
            raise DataError(f"link {number} is {pair!r}; expected (from, to) or (from, to, weight).")
        weight = pair[2] if len(pair) == 3 else 1.0
        if not isinstance(weight, Real) or not math.isfinite(weight) or weight < 0:
            raise DataError(f"link {number} has the weight {weight!r}; expected a number of at least 0.")
        rows.append(_position(pair[0], places, samples, f"link {number}"))
        columns.append(_position(pair[1], places, samples, f"link {number}"))
        weights.append(weight)
    return csr_array((weights, (rows, columns)), shape=(len(samples), len(samples)), dtype=np.float64)


def _position(key: Any, places: Mapping[str, int], samples: EntitySet, where: str) -> int:
    """Find a sample by its position or its id."""
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        if not 0 <= key < len(samples):
            raise DataError(f"{where}: there is no sample {key}; positions go from 0 to {len(samples) - 1}.")
        return int(key)
    if isinstance(key, float) and key.is_integer():
        return _position(int(key), places, samples, where)
    if str(key) not in places:
        raise UnknownNameError(samples.kind, key, samples.ids, where)
    return places[str(key)]


# ---------------------------------------------------------------------- anchors


def read_anchors(anchors: Any, samples: EntitySet, n_components: int) -> Anchors | None:
    """Read samples held to places: ``{position or id: (place, weight)}``, or a place alone, of weight 1.

    A weight of 1 pulls as strongly as all else pulls an average sample: its term is (weight/n) |z − place|².
    """
    if anchors is None or (isinstance(anchors, Mapping) and not anchors):
        return None
    if not isinstance(anchors, Mapping):
        raise ParameterError("anchors are a mapping {position or id of a sample: (place, weight)}.")
    known = positions(samples.ids)
    index, places, weights = [], [], []
    for key, given in anchors.items():
        place, weight = _place_and_weight(key, given, n_components)
        index.append(_position(key, known, samples, "anchors"))
        places.append(place)
        weights.append(weight)
    order = np.argsort(index, kind="stable")
    return Anchors(
        np.array(index, dtype=np.int64)[order],
        np.array(places, dtype=np.float64)[order],
        np.array(weights, dtype=np.float64)[order] / len(samples),
    )


def _place_and_weight(key: Any, given: Any, k: int) -> tuple[FloatArray, float]:
    expected = f"the anchor of {key!r} is {given!r}; expected (place, weight), the place {k} finite numbers"
    try:
        pair = len(given) == 2 and np.ndim(given[0]) == 1
        place = np.asarray(given[0] if pair else given, dtype=np.float64)
        weight = float(given[1]) if pair else 1.0
    except (TypeError, ValueError, KeyError) as error:
        raise ParameterError(f"{expected}.") from error
    if place.shape != (k,) or not np.isfinite(place).all():
        raise ParameterError(f"{expected}.")
    if not np.isfinite(weight) or weight < 0:
        raise ParameterError(f"{expected} and the weight at least 0 (1 pulls like all else together).")
    return place, weight


# ---------------------------------------------------------------------- a start


def read_start(init: Any, samples: EntitySet, n_components: int, variant: str) -> Start | None:
    """Read an arrangement to start from: an n × k array (NaN = unknown), or a Map, matched by id."""
    if init is None:
        return None
    if isinstance(init, Map):
        return _of_map(init, samples, n_components, variant)
    try:
        places = np.array(init, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError("init is an n × k array of places, or a Map.") from error
    if places.shape != (len(samples), n_components):
        raise ParameterError(
            f"init has shape {places.shape}; expected {len(samples)} × {n_components}, the place of every "
            "sample (NaN where it has none yet), or a Map."
        )
    places[~np.isfinite(places).all(axis=1)] = np.nan
    return Start(places, {})


def _of_map(map_: Map, samples: EntitySet, k: int, variant: str) -> Start:
    if map_.n_components != k:
        raise ParameterError(f"init is a map of {map_.n_components} axes, but n_components={k}.")
    kind = samples.kind if samples.kind in map_.groups else map_.groups[0]
    group = map_.group(kind)
    at = match(samples.ids, group.ids)
    if not (at >= 0).any():
        raise DataError(
            f"none of the {len(samples)} samples is on the map given as init (kind {kind!r}); they are "
            "matched by id."
        )
    places = np.full((len(samples), k), np.nan)
    places[at >= 0] = group.coordinates[at[at >= 0]]
    shown: dict[str, FloatArray] = {}
    if COHORT in map_.groups and kind != COHORT:
        cohorts = map_.group(COHORT)
        shown = dict(
            zip(cohorts.ids.tolist(), np.asarray(cohorts.coordinates, dtype=np.float64), strict=True)
        )
    return Start(places, shown, map_.parameters.get("variant", variant) == variant)


def turned_to(
    prototypes: FloatArray, names: TextArray, codes: IntArray, start: Start, scaled: bool
) -> tuple[FloatArray, float]:
    """Shift, turn and mirror prototypes towards an earlier arrangement, so that a map does not jump.

    The targets are the cohorts of the earlier map, by name, where at least two are on it: then prototypes are
    also brought to their size, if ``scaled``. Otherwise they are the means of the samples that have a place.

    Returns the prototypes, and the factor they were enlarged by.
    """
    by_name = np.array([name in start.prototypes for name in names], dtype=bool)
    if by_name.sum() >= 2:
        target = np.array([start.prototypes[name] for name in names[by_name]])
        return _moved(prototypes, by_name, target, scaled)
    means, there = _cohort_means(codes, len(names), start.places)
    return _moved(prototypes, there, means[there], scaled=False) if there.sum() >= 2 else (prototypes, 1.0)


def _cohort_means(codes: IntArray, c: int, places: FloatArray) -> tuple[FloatArray, BoolArray]:
    known = np.isfinite(places).all(axis=1) & (codes >= 0)
    counts = np.bincount(codes[known], minlength=c)
    sums = np.column_stack([np.bincount(codes[known], weights=axis, minlength=c) for axis in places[known].T])
    return sums / np.maximum(counts, 1)[:, None], counts > 0


def _moved(
    prototypes: FloatArray, chosen: BoolArray, target: FloatArray, scaled: bool
) -> tuple[FloatArray, float]:
    """Move all prototypes by what brings the chosen ones nearest to their targets."""
    points = prototypes[chosen]
    middle, goal = points.mean(axis=0), target.mean(axis=0)
    left, values, right = np.linalg.svd((points - middle).T @ (target - goal))
    spread = float(((points - middle) ** 2).sum())
    factor = float(values.sum()) / spread if scaled and spread > 0 and values.sum() > 0 else 1.0
    return factor * (prototypes - middle) @ (left @ right) + goal, factor
