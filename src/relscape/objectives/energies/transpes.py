"""TransPES: the relation is projected on the plane of the two entities before it translates.

With F = [e_h e_t], P = F (F'F + ξI)⁻¹ F': u = e_h + P r − e_t, E = N(u). As u lies in that plane, five inner
products say all about l2: a = e_h'e_h, b = e_t'e_t, c = e_h'e_t, p = e_h'r, q = e_t'r. The two-by-two system
is solved in double precision, for with e_t near e_h single precision has no digits left.
"""

# ruff: noqa: ARG001, E741 (all energies share their arguments; l is the link, as in the formulas)
from __future__ import annotations

import numpy as np
from numba import njit, prange

from relscape.objectives.energies.base import Energy, Params, Settings, Sizes, assemble
from relscape.objectives.energies.loop import margin_sweep, one_by_one, pulls_of, values_of
from relscape.objectives.energies.norms import HELPER, L1, L2, LOOP, norm_of, norm_tag, signed, slope
from relscape.objectives.energies.plane import ROUGH, products, products_of_three, solve, square
from relscape.objectives.energies.starting import unit_rows
from relscape.objectives.energies.transpes_many import many_heads, many_tails
from relscape.protocols import FloatArray, IntArray

__all__ = ["TRANSPES"]

_LENGTH = norm_tag("l2")


def start(sizes: Sizes, rng: np.random.Generator) -> Params:
    """Draw entities and relations of length 1."""
    entities = unit_rows(sizes.n_entities, sizes.k, rng)
    return assemble(entities, unit_rows(sizes.n_relations, sizes.k, rng))


@njit(**HELPER)
def _length(a, b, c, p, q, number, norm):  # type: ignore[no-untyped-def]
    """Give the energy by l2 or l2sq of a triple whose five products are known."""
    x1, x2 = solve(a, b, c, p, q, number)
    return norm_of(square(a, b, c, 1.0 + x1, x2 - 1.0), norm)


@njit(**HELPER)
def value(E, R, S, F, number, norm, h, l, t, hint):  # type: ignore[no-untyped-def]
    """Give the energy of one triple."""
    aa, bb, cc, p, q = products(E, R, h, l, t)
    if len(norm) != L1:
        return _length(aa, bb, cc, p, q, number, norm)
    x1, x2 = solve(aa, bb, cc, p, q, number)
    alpha, beta = E.dtype.type(1.0 + x1), E.dtype.type(x2 - 1.0)
    found = E.dtype.type(0.0)
    for i in range(E.shape[1]):
        found += abs(alpha * E[h, i] + beta * E[t, i])
    return np.float64(found)


@njit(inline="always")
def together(value, E, R, S, F, number, norm, triples, hints, others, sides, i, found):  # type: ignore[no-untyped-def]
    """Work out the energies of a triple and of its two corruptions in one walk along their rows."""
    if others.shape[1] != 2 or len(norm) == L1:
        one_by_one(value, E, R, S, F, number, norm, triples, hints, others, sides, i, found)
    else:
        h, l, t = triples[i, 0], triples[i, 1], triples[i, 2]
        x, y, heads_x, heads_y = others[i, 0], others[i, 1], sides[i, 0] == 0, sides[i, 1] == 0
        five, of_x, of_y = products_of_three(E, R, h, l, t, x, t if heads_x else h, y, t if heads_y else h)
        a, b, _, p, q = five
        found[0] = _replaced(a, b, p, q, of_x, heads_x, number, norm)
        found[1] = _replaced(a, b, p, q, of_y, heads_y, number, norm)
        found[2] = _length(*five, number, norm)


@njit(**HELPER)
def _replaced(a, b, p, q, of_new, heads, number, norm):  # type: ignore[no-untyped-def]
    """Give the energy of a triple with a new head (or tail): one of each two products stays."""
    own, by, link = of_new
    if heads:
        return _length(own, b, by, link, q, number, norm)
    return _length(a, own, by, p, link, number, norm)


@njit(**HELPER)
def add_gradient(  # type: ignore[no-untyped-def]
    scale, E, R, S, F, number, norm, h, l, t, hint, to, a, b, to_R, to_S
):
    """Add the gradient times ``scale``, through the projector: multiples of s, e_h, e_t and r."""
    aa, bb, cc, p, q = products(E, R, h, l, t)
    x1, x2 = solve(aa, bb, cc, p, q, number)
    alpha, beta = 1.0 + x1, x2 - 1.0
    if len(norm) == L1:
        hs, ts = 0.0, 0.0
        for i in range(E.shape[1]):
            s = signed(alpha * E[h, i] + beta * E[t, i], 1.0)
            hs += E[h, i] * s
            ts += E[t, i] * s
        y1, y2 = solve(aa, bb, cc, hs, ts, number)
        along_h, along_t, size = 0.0, 0.0, to.dtype.type(scale)
    else:
        size = slope(square(aa, bb, cc, alpha, beta), norm)
        y1, y2 = solve(aa, bb, cc, size * (alpha * aa + beta * cc), size * (alpha * cc + beta * bb), number)
        along_h, along_t, size = size * alpha, size * beta, to.dtype.type(0.0)
    kind = to.dtype.type
    one, two = kind(alpha), kind(beta)
    cross = x1 * y2 + x2 * y1
    hh, ht = kind(scale * (alpha * along_h - 2.0 * x1 * y1)), kind(scale * (alpha * along_t - cross))
    th, tt = kind(scale * (beta * along_h - cross)), kind(scale * (beta * along_t - 2.0 * x2 * y2))
    rh, rt = kind(scale * y1), kind(scale * y2)
    for i in range(E.shape[1]):
        head, tail, link = E[h, i], E[t, i], R[l, i]
        s = signed(one * head + two * tail, size) if len(norm) == L1 else kind(0.0)
        to[a, i] += one * s + hh * head + ht * tail + rh * link
        to[b, i] += two * s + th * head + tt * tail + rt * link
        to_R[l, i] += rh * head + rt * tail


@njit(**LOOP)
def sweep(model, batch, margin, sums, step):  # type: ignore[no-untyped-def]
    """Walk over a batch."""
    return margin_sweep(value, add_gradient, model, batch, margin, sums, step, together)


@njit(cache=True, nogil=True)
def values(model, triples, hints):  # type: ignore[no-untyped-def]
    """Give the energies of triples."""
    return values_of(value, model, triples, hints)


@njit(**LOOP)
def pulls(model, triples, hints, weights, sums):  # type: ignore[no-untyped-def]
    """Add up the gradients of triples' energies, each times its weight."""
    pulls_of(add_gradient, model, triples, hints, weights, sums)


def tails_of(params: Params, heads: IntArray, relations: IntArray, settings: Settings) -> FloatArray:
    """Score all tails of queries."""
    return _score(params, heads, relations, True, settings)


def heads_of(params: Params, relations: IntArray, tails: IntArray, settings: Settings) -> FloatArray:
    """Score all heads of queries."""
    return _score(params, tails, relations, False, settings)


def _score(
    params: Params, entities: IntArray, relations: IntArray, known_heads: bool, settings: Settings
) -> FloatArray:
    """Score by two products in the precision of the parameters; what they tell too roughly, one by one."""
    E, R = params["entities"], params["relations"]
    if len(settings.norm) == L1:
        return np.asarray(_one_by_one(E, R, *settings, entities, relations, known_heads))
    found = E[entities] @ E.T
    links, local = np.unique(relations, return_inverse=True)
    # E(h, r, t) = E(t, −r, h): a tail known is a head known of the relation turned round
    turned = R[links] if known_heads else -R[links]
    squares = np.einsum("ij,ij->i", E, E, dtype=np.float64)
    own = np.einsum("ij,ij->i", E[entities], turned[local], dtype=np.float64)
    xi, root = settings.number, len(settings.norm) == L2
    _finish(found, squares, turned @ E.T, local, own, E, R, xi, root, entities, relations, known_heads)
    return np.asarray(found)


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _finish(  # type: ignore[no-untyped-def]
    found, squares, links, local, own, E, R, xi, root, entities, relations, known_heads
):
    """Turn the products of known entities and candidates into energies (l2 by a ``root``, l2sq), in place.

    Where candidate and known entity are nearly collinear (the known entity itself always is), or u is much
    shorter than what it is the difference of, rounded products leave few digits: these energies are worked
    out from the rows, in double precision.
    """
    for i in prange(found.shape[0]):
        a, p, m = squares[entities[i]], own[i], local[i]
        for j in range(found.shape[1]):
            b, c, q = squares[j], np.float64(found[i, j]), np.float64(links[m, j])
            both = (a + xi) * (b + xi)
            det = both - c * c
            factor = 1.0 / det
            alpha = 1.0 + ((b + xi) * p - c * q) * factor
            beta = ((a + xi) * q - c * p) * factor - 1.0
            along = alpha * alpha * a + beta * beta * b
            total = along + 2.0 * alpha * beta * c
            rough = (det < ROUGH * both) | (total < ROUGH * along)
            found[i, j] = -1.0 if rough else (np.sqrt(total) if root else total)
        for j in range(found.shape[1]):
            if found[i, j] < 0.0:
                h, t = (entities[i], j) if known_heads else (j, entities[i])
                length = value(E, R, E, E, xi, _LENGTH, h, relations[i], t, -1)
                found[i, j] = length if root else length * length


@njit(cache=True, nogil=True, parallel=True, error_model="numpy")
def _one_by_one(E, R, xi, norm, entities, relations, known_heads):  # type: ignore[no-untyped-def]
    """Give the energies of all candidates where no product says enough (l1)."""
    found = np.empty((entities.shape[0], E.shape[0]))
    for i in prange(entities.shape[0]):
        for j in range(E.shape[0]):
            h, t = (entities[i], j) if known_heads else (j, entities[i])
            found[i, j] = value(E, R, E, E, xi, norm, h, relations[i], t, -1)
    return found


TRANSPES = Energy(
    "TransPES",
    start,
    value,
    add_gradient,
    sweep,
    values,
    pulls,
    tails_of,
    heads_of,
    norms=("l2", "l1", "l2sq"),
    entity_rule="soft",
    relation_rule="decay",
    extra="xi",
    defaults={"xi": 1e-8, "lambda1": 1.0, "lambda2": 0.01},
    many_tails=many_tails,
    many_heads=many_heads,
    many_norms=("l2", "l2sq"),
)
