"""Which samples the cohorts' pull reaches: those that some weights join to a sample with confidence.

Samples without own confidence follow their neighbours. A component of the graph in which nobody has any
would be held by nothing, so its samples get the least confidence that others have in their own cohorts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components

from relscape.matrix.spread_weights import SpreadWeights
from relscape.protocols import BoolArray, IntArray

__all__ = ["lifted", "unplaced"]


def lifted(R: Any, W: Any, codes: IntArray) -> tuple[Any, int]:
    """Let the cohorts' pull reach every component of the graph that has a sample of known cohort.

    Parameters
    ----------
    R : csr_array or array of shape (n, c)
        Confidences.
    W : sparse array of shape (n, n)
        Weights between samples; one without any is a component of its own.
    codes : integer array of shape (n,)
        The cohort of every sample, -1 where unknown.

    Returns
    -------
    R : like ``R``
        Not divided by its new total; the same object when nothing had to be done.
    n_repaired : int
        How many samples got a confidence they did not have.
    """
    codes = np.asarray(codes)
    who = np.flatnonzero(unplaced(R, W) & (codes >= 0))
    if not who.size:
        return R, 0
    least = csr_array(
        (np.full(len(who), _least_own(R, codes)), (who, codes[who])), shape=R.shape, dtype=np.float64
    )
    return csr_array(R + least) if issparse(R) else R + least.toarray(), len(who)


def unplaced(R: Any, W: Any) -> BoolArray:
    """Mark the samples in components of the graph without any confidence: nothing says where they belong.

    An isolated sample with an empty row of ``R`` is the usual case.
    """
    spread = isinstance(W, SpreadWeights)
    component = W.components() if spread else connected_components(_edges(W), directed=False)[1]
    mass = np.bincount(component, np.asarray(R.sum(axis=1)).ravel())
    return np.asarray(mass[component] == 0)


def _edges(W: Any) -> Any:
    """Leave out stored zeros, which join nobody."""
    edges = csr_array(W)
    if not edges.data.all():
        edges = edges.copy()
        edges.eliminate_zeros()
    return edges


def _least_own(R: Any, codes: IntArray) -> float:
    """Give the smallest positive confidence in an own cohort, or in any, or 1 if there is none."""
    table = csr_array(R).tocoo()
    rows, columns = table.coords
    positive = table.data > 0
    own = positive & (codes[rows] == columns)
    found = table.data[own if own.any() else positive]
    return float(found.min()) if found.size else 1.0
