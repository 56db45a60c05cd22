"""Seeded samples of data sets, of the size an experiment asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from relscape.data import RelationalData
from relscape.protocols import FloatArray, SparseArray, TextArray

__all__ = ["sampled_text", "themed_relation"]


def sampled_text(
    data: RelationalData, chosen: Mapping[str, Any], random_state: int
) -> tuple[SparseArray, TextArray]:
    """Draw documents of every class, and the words that most of them have.

    ``chosen`` says the ``relation``, the field that holds the ``label``, ``documents_a_class`` (all where a
    class has fewer), ``words``, ``widest`` (words in a larger share of the documents are left out) and,
    optionally, the ``classes``.
    """
    labels = data.entities["doc"].fields[chosen["label"]]
    rng = np.random.default_rng(random_state)
    classes = sorted(chosen.get("classes", set(labels)))
    drawn = [
        rng.permutation(np.flatnonzero(labels == name))[: chosen["documents_a_class"]] for name in classes
    ]
    documents = np.sort(np.concatenate(drawn))
    counts = data.matrix(chosen["relation"])[documents]
    spread = np.bincount(counts.indices, minlength=counts.shape[1])
    spread[spread > chosen["widest"] * len(documents)] = 0
    words = np.sort(np.argsort(-spread, kind="stable")[: chosen["words"]])
    return counts[:, words], labels[documents]


def themed_relation(size: int, themes: int, random_state: int) -> FloatArray:
    """Make a dense relation of ``size`` rows and columns that share hidden themes, with noise."""
    rng = np.random.default_rng(random_state)
    rows, columns = (rng.dirichlet(np.full(themes, 0.3), size) for _ in range(2))
    relation: FloatArray = (rows @ columns.T) * rng.gamma(4.0, 0.25, (size, size))
    return relation
