"""The one place for singular pairs: values and vectors sorted together, signs fixed, starts seeded."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh, svd
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh, svds

from relscape.errors import DataError, ParameterError
from relscape.protocols import FloatArray
from relscape.threads import one_thread

__all__ = ["Triplets", "thin_svd", "truncated_svd"]

# Up to this many entries a dense LAPACK decomposition is as fast as Lanczos, and exact to the last digit.
DENSE_ENTRIES = 1_000_000
# Up to this many objects on the short side, its Gram matrix is the quickest way.
GRAM_SIDE = 64


class Triplets(NamedTuple):
    """Singular triplets, largest value first: ``U`` (m × k), ``values`` (k), ``V`` (n × k)."""

    U: FloatArray
    values: FloatArray
    V: FloatArray


def thin_svd(matrix: FloatArray) -> Triplets:
    """Decompose a dense matrix completely."""
    with one_thread():
        U, values, Vt = svd(matrix, full_matrices=False, check_finite=False)
    return _signed(U, values, Vt.T)


def truncated_svd(
    operator: LinearOperator,
    k: int,
    random_state: np.random.Generator,
    tolerance: float = 1e-8,
    start: FloatArray | None = None,
) -> Triplets:
    """Find the ``k`` largest singular triplets of an operator that is never formed.

    Small operators (up to 10⁶ entries) are decomposed by LAPACK, larger ones by ARPACK's Lanczos
    iteration on the smaller Gram operator, to a relative ``tolerance`` of the singular values.

    Parameters
    ----------
    operator : LinearOperator
        m × n.
    k : int
        How many triplets, at most ``min(m, n)`` (less than that for large operators).
    random_state : numpy.random.Generator
        Draws the first vector of the iteration.
    tolerance : float
        Of ARPACK; 0 means machine precision.
    start : array, optional
        A first vector of length ``min(m, n)``, for a warm start.
    """
    with one_thread():
        return _truncated(operator, k, random_state, tolerance, start)


def _truncated(
    operator: LinearOperator,
    k: int,
    random_state: np.random.Generator,
    tolerance: float,
    start: FloatArray | None,
) -> Triplets:
    m, n = operator.shape
    smaller = min(m, n)
    if not 1 <= k <= smaller:
        raise ParameterError(f"k={k}: a {m} × {n} operator has between 1 and {smaller} singular triplets.")
    if m * n <= DENSE_ENTRIES:
        return _first(thin_svd(_dense(operator)), k)
    if smaller <= GRAM_SIDE:
        return _by_gram(operator, k)
    if k == smaller:
        raise ParameterError(
            f"n_components={k} is all of the {m} × {n} relation's dimensions; ask for at most {smaller - 1}."
        )
    first = random_state.uniform(-1.0, 1.0, smaller) if start is None else start
    room = 2 * k + 6  # a little more than scipy gives saves a fifth of the products
    settings = {"k": k, "ncv": room if room < smaller else None, "v0": first, "maxiter": 20 * smaller}
    try:
        if n <= m and hasattr(operator, "gram"):
            U, values, Vt = _by_lanczos(operator, tolerance, settings)
        elif n > m and hasattr(operator, "flipped") and (flipped := operator.flipped()) is not None:
            V, values, Ut = _by_lanczos(flipped, tolerance, settings)
            U, Vt = Ut.T, V.T
        else:
            U, values, Vt = svds(operator, solver="arpack", tol=tolerance, **settings)
    except ArpackNoConvergence as error:
        raise DataError(
            f"the decomposition found {len(error.eigenvalues)} of {k} axes and then did not converge; "
            "ask for fewer components."
        ) from error
    except ArpackError as error:
        raise DataError(
            f"the decomposition found no axes ({error}); are all entries of the relation zero?"
        ) from error
    order = np.argsort(values)[::-1]
    return _signed(U[:, order], values[order], Vt[order].T)


def _by_lanczos(
    operator: Any, tolerance: float, settings: dict[str, Any]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Do what ``svds`` does, for an operator that multiplies by its Gram operator in one pass.

    So the long side's vectors, which ``svds`` would bring here in every step, are only made at the end.
    """
    n = operator.shape[1]
    gram = LinearOperator((n, n), matvec=operator.gram, dtype=np.float64)
    _, vectors = eigsh(gram, which="LM", tol=tolerance**2, **settings)
    vectors, _ = np.linalg.qr(vectors)
    U, values, Wt = svd(operator.matmat(vectors), full_matrices=False, check_finite=False)
    return U, values, Wt @ vectors.T


def _by_gram(operator: LinearOperator, k: int) -> Triplets:
    """Decompose a long thin operator through the Gram matrix of its short side, then refine.

    The final decomposition of the image of the leading vectors brings back the digits that squaring
    costs, as in ``svds``.
    """
    tall = operator if operator.shape[0] >= operator.shape[1] else operator.T
    side = tall.shape[1]
    gram = np.empty((side, side))
    for begin in range(0, side, 16):
        part = slice(begin, begin + 16)
        gram[:, part] = tall.rmatmat(tall.matmat(np.eye(side)[:, part]))
    _, vectors = eigh((gram + gram.T) / 2)
    leading = vectors[:, ::-1][:, :k]
    U, values, Wt = svd(tall.matmat(leading), full_matrices=False, check_finite=False)
    V = leading @ Wt.T
    return _signed(U, values, V) if tall is operator else _signed(V, values, U)


def _dense(operator: LinearOperator) -> FloatArray:
    m, n = operator.shape
    if n <= m:
        return np.asarray(operator.matmat(np.eye(n)))
    return np.asarray(operator.rmatmat(np.eye(m))).T


def _first(triplets: Triplets, k: int) -> Triplets:
    return Triplets(triplets.U[:, :k], triplets.values[:k], triplets.V[:, :k])


def _signed(U: Any, values: Any, V: Any) -> Triplets:
    """Make the entry of largest size in every left vector positive, so that a result has one sign.

    Among entries as large up to rounding the first one counts.
    """
    if U.size == 0:
        return Triplets(U, values, V)
    sizes = np.abs(U)
    largest = (sizes >= (1.0 - 1e-6) * sizes.max(axis=0)).argmax(axis=0)
    signs = np.sign(U[largest, np.arange(U.shape[1])])
    signs[signs == 0] = 1.0
    return Triplets(U * signs, values, V * signs)
