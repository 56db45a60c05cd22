"""How long fits take on an ordinary machine, guessed before they begin."""

from __future__ import annotations

from typing import Any

import numpy as np

from relscape.data import RelationalData
from relscape.models.checks import as_number

__all__ = [
    "coembedding_seconds",
    "cohort_seconds",
    "knowledge_seconds",
    "network_seconds",
    "projection_seconds",
    "time_told",
]

# All as measured. A decomposition's pair, times its axes; a likelihood's cell, and its usual iterations.
_A_PAIR, _A_CELL, _USUAL_ITERATIONS = 3e-8, 1e-8, 500
# A sample's neighbours and scores, and all its iterations.
_A_SAMPLE, _A_DESCENT = 4e-4, 5e-3
# One number of a vector, once a triple or corruption.
_A_NUMBER = 2e-9
_MATRIX_MODELS = ("RESCAL", "SE", "SMELinear", "SMEBilinear", "LFM", "TransR", "CTransR")
# One pair of documents, over all steps of a usual training; beyond so many each is compared with a sample.
_A_PAIR_OF_DOCUMENTS, _MOST_COMPARED = 4e-6, 20_000
# Each term of a product of matrices; of more features than so many, so many directions are used; the
# eigenproblem of more coordinates than so many is not formed.
_A_TERM, _MOST_FEATURES, _DIRECTIONS, _FORMED = 1e-9, 5_000, 300, 1_500


def time_told(seconds: float) -> str:
    """Say a guessed time in words.

    >>> time_told(3), time_told(45), time_told(600)
    ('a few seconds', 'about 45 seconds', 'about 10 minutes')
    """
    if seconds < 10:
        return "a few seconds"
    return f"about {seconds / 60:.0f} minutes" if seconds > 90 else f"about {seconds:.0f} seconds"


def coembedding_seconds(model: Any, data: Any) -> float:
    """Guess by the pairs, or for a likelihood with its restarts by all pairs that there could be.

    ``data`` is a RelationalData, or a relation on a cluster, for which one worker's time is told.
    """
    here = isinstance(data, RelationalData)
    if hasattr(model, "n_restarts"):
        shapes = [r.matrix.shape for r in data.relations.values()] if here else [data.shape]
        cells = sum(float(np.prod(shape, dtype=float)) for shape in shapes)
        iterations = min(_count(model.max_iterations), _USUAL_ITERATIONS)
        return float(_A_CELL * cells * _count(model.n_restarts) * iterations)
    pairs = sum(r.matrix.nnz for r in data.relations.values()) if here else data.n_stored
    tried = _count(getattr(model, "max_evaluations", 1))
    return float(_A_PAIR * pairs * (10 + _count(model.n_components)) * tried)


def _count(given: Any) -> float:
    """Give a parameter as a number; what is none is guessed to be 1, and refused when the fit begins."""
    number = as_number(given)
    return number if np.isfinite(number) else 1.0


def cohort_seconds(model: Any, n: int, fits: int = 1) -> float:
    """Guess for n samples; variants without a descent are quick."""
    each = 0.0 if getattr(model, "variant", "") in ("E1", "eigen") else _A_DESCENT
    return n * (2 * _A_SAMPLE + fits * (each + _A_SAMPLE))


def knowledge_seconds(model: Any, n_triples: int) -> float:
    """Guess by the numbers that all epochs touch."""
    width = model.n_components ** (2 if model.model in _MATRIX_MODELS else 1)
    return float(_A_NUMBER * width * n_triples * (1 + model.negatives) * model.n_epochs)


def network_seconds(model: Any, n: int) -> float:
    """Guess for n documents; models without iterations take no time to speak of."""
    return _A_PAIR_OF_DOCUMENTS * n * min(n, _MOST_COMPARED) * hasattr(model, "max_iterations")


def projection_seconds(model: Any, data: RelationalData, fits: int = 1) -> float:
    """Guess all fits: a decomposition of every kind's features, and one of their coordinates."""
    terms, width = 0.0, 0
    for things in data.entities.values():
        n, X = len(things), things.features
        if X is None:
            width += n
            continue
        d = X.shape[1]
        few = d <= _MOST_FEATURES and model.rank is None
        r = min(n, d) if few else int(min(n, d, _count(model.rank or _DIRECTIONS)))
        terms += float(n) * d * min(n, d) if few else 10.0 * r * (X.nnz if hasattr(X, "nnz") else n * d)
        width += r
    pairs = sum(relation.matrix.nnz for relation in data.relations.values())
    terms += float(pairs) * min(width, _FORMED) + float(min(width, _FORMED)) ** 3
    return _A_TERM * terms * fits
