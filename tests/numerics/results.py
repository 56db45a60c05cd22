"""What the tests compare: models of one table and of samples, given dense or sparse, in any order.

Run as a program it fits them all and writes their places to a file, for a process with another BLAS.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from tests.saved import quick

import relscape as rs
from relscape.errors import RelscapeWarning
from relscape.protocols import AnyArray

__all__ = ["EXACT", "ITERATED", "LEARNED", "MODELS", "Form", "as_given", "places_of", "relation"]

Form = Callable[[AnyArray], Any]
N = 200
AS_THEY_ARE = np.arange(N)


def relation() -> AnyArray:
    """Two hundred documents and eighty words of four topics."""
    rng = np.random.default_rng(11)
    rates = np.where(AS_THEY_ARE[:, None] % 4 == np.arange(80) % 4, 2.0, 0.3) * rng.gamma(2.0, 0.5, size=80)
    return rng.poisson(rates).astype(float) + np.eye(N, 80)


def _samples() -> tuple[AnyArray, AnyArray, AnyArray]:
    """Two views of samples in four groups, a third of the first one zeros, and who belongs together."""
    rng = np.random.default_rng(12)
    groups = AS_THEY_ARE % 4
    first = rng.normal(size=(N, 12)) + 3 * np.eye(4, 12)[groups]
    first[np.abs(first) < 0.8] = 0.0
    second = first[:, :5] @ rng.normal(size=(5, 7)) + rng.normal(size=(N, 7))
    graph = np.triu((groups[:, None] == groups) & (rng.random((N, N)) < 0.05), 1)
    return first, second, (graph + graph.T).astype(float)


def _coembedding(name: str, **settings: Any) -> Callable[[Form, AnyArray], AnyArray]:
    return lambda form, order: quick(name, **settings).fit(form(relation()[order])).row_embedding_


def _cohorts(variant: str) -> Callable[[Form, AnyArray], AnyArray]:
    def places(form: Form, order: AnyArray) -> AnyArray:
        model = rs.COVA(variant, n_neighbors=10, random_state=0)
        return model.fit(form(_samples()[0][order]), order % 4).embedding_

    return places


def _projection(form: Form, order: AnyArray) -> AnyArray:
    first, second, graph = _samples()
    tables = {"x": form(first[order]), "y": form(second[order])}
    guidance = {("x", "y"): csr_array(np.eye(N)), ("x", "x"): csr_array(graph[order][:, order])}
    return rs.HeterogeneousProjection(2).fit(tables, guidance).embeddings_["x"]


def _lpp(form: Form, order: AnyArray) -> AnyArray:
    first, _, graph = _samples()
    return rs.LPP(2).fit(form(first[order]), csr_array(graph[order][:, order])).embedding_


def _cca(form: Form, order: AnyArray) -> AnyArray:
    first, second, _ = _samples()
    found = rs.RidgeCCA(2).fit(form(first[order]), form(second[order]))
    return found.transform(form(first[order]))


def _contents(form: Form, order: AnyArray) -> AnyArray:
    links = np.array([(i, (i + 4 * s) % N) for i in range(N) for s in (1, 2, 3)])
    return rs.ContentOnly(2).fit(form(relation()[order]), np.argsort(order)[links]).embedding_


_GIVEN = {"eta_rows": 0.5, "eta_columns": 0.25, "xi": 0.5, "gamma": 1.0}
EXACT = {
    **{name: _coembedding(name) for name in ("ca", "bgp", "lsi", "cfrm", "cort", "acas")},
    "mutual": _coembedding("mutual", **_GIVEN),
    "projection": _projection,
    "lpp": _lpp,
    "cca": _cca,
    "contents": _contents,
    "E1": _cohorts("E1"),
    "eigen": _cohorts("eigen"),
}
ITERATED = {name: _coembedding(name, max_iterations=2000) for name in ("code", "pe", "sdr")}
LEARNED = {variant: _cohorts(variant) for variant in ("P1", "P2", "P3", "P4")}
MODELS = {**EXACT, **ITERATED, **LEARNED}


def as_given(table: AnyArray) -> AnyArray:
    """Give a table as it is: dense, in double precision."""
    return table


def places_of(name: str, form: Form = as_given, order: AnyArray = AS_THEY_ARE) -> AnyArray:
    """Fit a model to its data in some form and order, and give its places."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        return np.asarray(MODELS[name](form, order))


if __name__ == "__main__":
    np.savez(sys.argv[1], **{name: places_of(name) for name in MODELS})
