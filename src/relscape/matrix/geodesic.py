"""Links between things of one kind, as a relation of two: how many steps apart they are.

Some of the things become rows and the others columns, related by r_ij = exp(−D_ij / mean D) where D
counts the links on the shortest way (Wu, Mu, Liatsis and Goulermas 2016, section 4.3). Ways are
searched from the rows only, a block of them at a time: for m rows and n columns of a graph of N things
the memory is 8·m·n bytes for the result, which is dense, and 8·256·N for a block, never N × N.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from relscape.errors import DataError, ParameterError
from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = ["LinkRelation", "hop_distances", "largest_component", "link_relation"]

BLOCK = 256


class LinkRelation(NamedTuple):
    """A relation made from links, and which things of the graph its rows and columns are."""

    matrix: FloatArray
    rows: IntArray
    columns: IntArray


def hop_distances(links: Any, rows: IntArray, columns: IntArray) -> FloatArray:
    """Count the links on the shortest way from every row thing to every column thing.

    Parameters
    ----------
    links : sparse array of shape (N, N)
        Any entry other than zero links two things, in both directions.
    rows, columns : integer arrays
        Positions of things.

    Returns
    -------
    array of shape (len(rows), len(columns))
        Whole numbers, infinite where no way leads.

    Examples
    --------
    >>> chain = csr_array(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    >>> hop_distances(chain, np.array([0]), np.array([0, 1, 2])).tolist()
    [[0.0, 1.0, 2.0]]
    """
    graph = _graph(links)
    distances = np.empty((len(rows), len(columns)))
    for first in range(0, len(rows), BLOCK):
        block = slice(first, first + BLOCK)
        found = dijkstra(graph, directed=False, indices=rows[block], unweighted=True)
        distances[block] = found[:, columns]
    return distances


def largest_component(links: Any) -> IntArray:
    """Give the positions of the largest set of things that links hold together, in order."""
    _, component = connected_components(_graph(links), directed=False)
    return np.flatnonzero(component == np.bincount(component).argmax())


def link_relation(
    links: Any,
    classes: Sequence[object] | np.ndarray[Any, Any],
    row_share: float = 0.4,
    random_state: int | np.random.Generator | None = None,
) -> LinkRelation:
    """Deal the things of a graph's largest component to rows and columns, and relate them by steps.

    Parameters
    ----------
    links : sparse array of shape (N, N)
        Any entry other than zero links two things, in both directions.
    classes : sequence of length N
        Class of every thing; each gives the same share of its members to the rows.
    row_share : float
        That share, between 0 and 1; the others become columns.
    random_state : int, Generator or None
        Deals the things.
    """
    if not 0 < row_share < 1:
        raise ParameterError(f"row_share={row_share!r}: give a share between 0 and 1.")
    size = _graph(links).shape[0]
    if len(classes) != size:
        raise DataError(f"there are {len(classes)} classes for {size} linked things; give one a thing.")
    members = largest_component(links)
    rows = _dealt(np.asarray(classes, dtype=object)[members], row_share, random_state)
    if rows.all() or not rows.any():
        raise DataError(
            f"the largest component has {len(members)} things in classes too small to be dealt to rows and "
            "columns; use a larger graph or fewer classes."
        )
    distances = hop_distances(links, members[rows], members[~rows])
    return LinkRelation(np.exp(-distances / distances.mean()), members[rows], members[~rows])


def _graph(links: Any) -> SparseArray:
    """Check that links are square and make them numbers, whatever their signs were."""
    graph = csr_array(links)
    if graph.shape[0] != graph.shape[1]:
        raise DataError(
            f"links are {graph.shape[0]} × {graph.shape[1]}; expected a square array, one row and one column "
            "a thing."
        )
    return csr_array((graph != 0).astype(np.float64))


def _dealt(classes: Any, share: float, random_state: int | np.random.Generator | None) -> Any:
    """Mark a share of every class, chosen at random, class after class in the order of their names."""
    rng = np.random.default_rng(random_state)
    names = classes.astype(str)
    chosen = np.zeros(len(names), dtype=bool)
    for name in np.unique(names):
        at = np.flatnonzero(names == name)
        chosen[rng.permutation(at)[: round(share * len(at))]] = True
    return chosen
