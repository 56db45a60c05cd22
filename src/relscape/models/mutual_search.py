"""Choosing the mutual co-embedding's parameters by how well mutual neighbourhoods survive (Γ).

The outer search evolves (η₁, η₂) on a grid, because only they cost a decomposition; for each, ξ and γ
are found by a pattern search on a fixed sample of the relation's mutual pairs. The best few, and
always CA and BGP, which are members of the family, are then compared by the exact Γ.

On large sparse relations next to no mutual pair survives on any map of few axes, and Γ tells nothing
(spec section 7). The search then goes by Γ among a sample of the objects, and takes the best there of
what is, by the exact Γ of all objects, no worse than CA and BGP.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from relscape import progress
from relscape.errors import RelscapeWarning
from relscape.matrix.mutual import MutualAxes
from relscape.matrix.mutual_blocks import relation_pairs
from relscape.matrix.mutual_pairs import Pairs
from relscape.matrix.operators import LocalRelation
from relscape.matrix.selecting import submatrix
from relscape.protocols import BlockedRelation, FloatArray, IntArray, RelationOperator
from relscape.scores.neighbourhood import GammaTerms, gamma_of_pairs
from relscape.solvers.search import evolve, pattern_search

__all__ = ["CA_LIKE", "Choice", "MutualParameters", "Neighbourhood", "axis_weights", "choose_parameters"]

ETA_STEP, ETA_SIZE = 0.25, 41  # 0 … 10
GRID_STEP, XI_SIZE, GAMMA_SIZE = 0.1, 30, 31  # ξ 0.1 … 3, γ 0 … 3
SAMPLE = 1_000
FINALISTS = 3
SATURATED = 0.9
OBJECTS = 2_000  # a sample of objects has at most so many rows and columns
WIDEST, WIDEST_SHARE = 40, 0.1  # neighbourhoods grow to so many, and to this share of the objects
_PATTERN = (6, 3, 1)
_START_SCALES = ((9, 5), (9, 0))  # ξ = 1 with CA's γ = ½ and BGP's γ = 0


class MutualParameters(NamedTuple):
    """The four parameters of the model."""

    eta_rows: float
    eta_columns: float
    xi: float
    gamma: float

    def distance(self) -> float:
        """Distance from the middle of the family, where ties in Γ are broken (spec section 4)."""
        return float(np.linalg.norm(np.subtract(self, CA_LIKE)))


CA_LIKE = MutualParameters(1.0, 1.0, 1.0, 0.5)
BGP_LIKE = MutualParameters(1.0, 1.0, 1.0, 0.0)


class Neighbourhood(NamedTuple):
    """What Γ counts as near."""

    k_rows: int
    k_columns: int
    ties: str


class Choice(NamedTuple):
    """The outcome of a search: parameters, exact Γ, the neighbourhoods it counts, the trace, why it ended."""

    parameters: MutualParameters
    gamma: GammaTerms
    neighbourhood: Neighbourhood
    trace: list[dict[str, Any]]
    reason: str


class _Yardstick(NamedTuple):
    """By what candidates are judged: pairs among some (or all) rows and columns, and what counts as near."""

    rows: IntArray | slice
    columns: IntArray | slice
    pairs: Pairs
    neighbourhood: Neighbourhood
    elsewhere: BlockedRelation | None = None  # where neighbours are looked for

    def gamma(self, placed: tuple[FloatArray, FloatArray]) -> GammaTerms:
        """Give Γ of a map of all objects."""
        rows, columns = placed
        return self.gamma_among((rows[self.rows], columns[self.columns]))

    def among(self, axes: MutualAxes) -> MutualAxes:
        """Keep of the axes what concerns the objects judged by."""
        return axes._replace(psi=axes.psi[self.rows], phi=axes.phi[self.columns])

    def gamma_among(self, placed: tuple[FloatArray, FloatArray]) -> GammaTerms:
        """Give Γ of a map of only the objects judged by."""
        rows, columns = placed
        return gamma_of_pairs(self.pairs, rows, columns, *self.neighbourhood, elsewhere=self.elsewhere)


def axis_weights(sigma: FloatArray, xi: float, gamma: float) -> tuple[FloatArray, FloatArray]:
    """Weights of ψ and φ on every axis: powers of the eigenvalues, and the columns' scale (41, 42)."""
    first = sigma[0] if sigma[0] > 0 else 1.0
    weights = (sigma / first) ** (2.0 * gamma)
    inverse = np.divide(1.0, sigma, out=np.zeros_like(sigma), where=sigma > 0)
    return weights, xi * weights * inverse


def _placed(axes: MutualAxes, xi: float, gamma: float) -> tuple[FloatArray, FloatArray]:
    row_weights, column_weights = axis_weights(axes.sigma, xi, gamma)
    return axes.psi * row_weights, axes.phi * column_weights


def choose_parameters(
    decompose: Callable[..., MutualAxes],
    relation: RelationOperator,
    neighbourhood: Neighbourhood,
    fixed: dict[str, float],
    max_evaluations: int,
    random_state: np.random.Generator,
) -> Choice:
    """Search the parameters that are not ``fixed``.

    Parameters
    ----------
    decompose : callable
        Gives the axes for (η₁, η₂); called at most ``max_evaluations`` times in the search, and
        with ``final=True``, for all digits, for each (η₁, η₂) among the finalists.
    relation : RelationOperator
        For its mutual pairs.
    neighbourhood : Neighbourhood
        What Γ counts as near. If next to nothing survives it at the start, it is widened, with a warning.
    fixed : dict
        Parameters that are given.
    max_evaluations : int
        Budget of decompositions.
    random_state : numpy.random.Generator
        Draws the sample of pairs and drives the evolution.
    """
    first = CA_LIKE._replace(**fixed)
    start = decompose(first.eta_rows, first.eta_columns)
    whole, searched = _informative(
        _placed(start, first.xi, first.gamma), relation, neighbourhood, random_state
    )
    trace: list[dict[str, Any]] = []
    best: dict[tuple[float, float], tuple[float, MutualParameters]] = {}
    judge = _Judge(searched, fixed)

    def cost(point: tuple[int, ...]) -> float:
        etas = tuple(ETA_STEP * index for index in point)
        etas = (fixed.get("eta_rows", etas[0]), fixed.get("eta_columns", etas[1]))
        if etas not in best:
            axes = start if etas == first[:2] else decompose(*etas)
            best[etas] = judge.best_scales(axes, *etas)
            trace.append(_entry(*best[etas], exact=False))
            task.advance()
        loss, parameters = best[etas]
        return loss + 1e-6 * parameters.distance()

    sizes = tuple(1 if name in fixed else ETA_SIZE for name in ("eta_rows", "eta_columns"))
    with progress.task("searching η, ξ and γ", max_evaluations) as task:
        if sizes == (1, 1):
            cost((0, 0))
            reason = "η is given"
        else:
            reason = evolve(cost, sizes, _starts(sizes), max_evaluations, random_state).reason
    finalists = [parameters for _, parameters in sorted(best.values(), key=lambda b: (b[0], b[1].distance()))]
    finalists = list(dict.fromkeys([*finalists[:FINALISTS], *_members(fixed)]))
    finest = {etas: decompose(*etas, final=True) for etas in dict.fromkeys(p[:2] for p in finalists)}
    maps = {p: _placed(finest[p[:2]], p.xi, p.gamma) for p in finalists}
    exact = {p: whole.gamma(placed) for p, placed in maps.items()}
    trace += [_entry(terms.loss, p, exact=True) for p, terms in exact.items()]
    if isinstance(searched.rows, slice):
        parameters = min(finalists, key=lambda p: (exact[p].loss, p.distance()))
    else:
        bound = min(exact[member].loss for member in _members(fixed))
        good = [p for p in finalists if exact[p].loss <= bound]
        parameters = min(good, key=lambda p: (searched.gamma(maps[p]).loss, p.distance()))
    return Choice(parameters, exact[parameters], whole.neighbourhood, trace, reason)


def _entry(loss: float, parameters: MutualParameters, exact: bool) -> dict[str, Any]:
    return {**parameters._asdict(), "gamma_loss": loss, "exact": exact}


def _starts(sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Begin at η = 1 (CA and BGP) and around it."""
    values = [(1.0, 1.0), (0.5, 0.5), (2.0, 2.0), (1.0, 2.0), (2.0, 1.0), (0.0, 1.0), (1.0, 0.0)]
    points = (
        tuple(min(int(v / ETA_STEP), n - 1) for v, n in zip(pair, sizes, strict=True)) for pair in values
    )
    return list(dict.fromkeys(points))


def _members(fixed: dict[str, float]) -> list[MutualParameters]:
    """CA and BGP, as far as the given parameters allow them."""
    return [member._replace(**fixed) for member in (CA_LIKE, BGP_LIKE)]


class _Judge:
    """Finds the best ξ and γ for given axes by Γ on a fixed sample of pairs."""

    def __init__(self, yardstick: _Yardstick, fixed: dict[str, float]) -> None:
        self._yardstick, self._fixed = yardstick, fixed

    def best_scales(self, axes: MutualAxes, *etas: float) -> tuple[float, MutualParameters]:
        """Search ξ and γ by steps of shrinking width on their grid, from CA's and BGP's values."""
        seen: dict[tuple[int, int], tuple[float, float]] = {}
        near = self._yardstick.among(axes)

        def loss(at: tuple[int, int]) -> tuple[float, float]:
            if at not in seen:
                parameters = self._parameters(etas, at)
                terms = self._yardstick.gamma_among(_placed(near, parameters.xi, parameters.gamma))
                seen[at] = (terms.loss, parameters.distance())
            return seen[at]

        at = pattern_search(loss, _START_SCALES, (XI_SIZE, GAMMA_SIZE), _PATTERN)
        return loss(at)[0], self._parameters(etas, at)

    def _parameters(self, etas: tuple[float, ...], at: tuple[int, int]) -> MutualParameters:
        xi, gamma = round(GRID_STEP * (at[0] + 1), 10), round(GRID_STEP * at[1], 10)
        return MutualParameters(etas[0], etas[1], self._fixed.get("xi", xi), self._fixed.get("gamma", gamma))


def _informative(
    placed: tuple[FloatArray, FloatArray],
    relation: RelationOperator,
    neighbourhood: Neighbourhood,
    random_state: np.random.Generator,
) -> tuple[_Yardstick, _Yardstick]:
    """Find what can tell maps apart: all pairs, to compare finalists by, and a sample, to search by.

    Where Γ is saturated, a large relation is searched by a sample of its objects; if that is not enough,
    and for small ones, neighbourhoods are widened.
    """
    everything = slice(None)
    elsewhere = relation if isinstance(relation, BlockedRelation) else None
    pairs = relation_pairs(relation, *neighbourhood)
    whole = _Yardstick(everything, everything, pairs, neighbourhood, elsewhere)
    searched = whole._replace(pairs=_drawn(whole.pairs, SAMPLE, random_state), elsewhere=None)
    if searched.gamma(placed).ratio <= SATURATED:
        return whole, searched
    remedies = []
    if max(relation.shape) > OBJECTS:
        drawn = _drawn(whole.pairs, OBJECTS, random_state)
        rows, columns = np.unique(drawn.rows), np.unique(drawn.columns)
        part = LocalRelation(submatrix(relation, rows, columns))
        searched = _widened(
            _Yardstick(rows, columns, relation_pairs(part, *neighbourhood), neighbourhood), part, placed
        )
        remedies.append(f"among a sample of {len(rows)} rows and {len(columns)} columns")
    else:
        whole = searched = _widened(whole, relation, placed)
    used = searched.neighbourhood
    if used != neighbourhood:
        remedies.append(f"with k_rows={used.k_rows} and k_columns={used.k_columns}")
    searched = searched._replace(pairs=_drawn(searched.pairs, SAMPLE, random_state), elsewhere=None)
    lost = searched.gamma(placed).ratio
    if remedies:
        remedy = f"searching {' '.join(remedies)} ({lost:.0%} lost) instead."
    else:
        remedy = "the relation is too small for wider ones, so take the choice with care."
    warnings.warn(
        f"with k_rows={neighbourhood.k_rows} and k_columns={neighbourhood.k_columns} the map that the search "
        "starts from keeps next to no mutual neighbours of this relation, so they can hardly guide a choice; "
        f"{remedy}",
        RelscapeWarning,
        stacklevel=6,
    )
    return whole, searched


def _widened(
    yardstick: _Yardstick, relation: RelationOperator, placed: tuple[FloatArray, FloatArray]
) -> _Yardstick:
    """Double the neighbourhoods until Γ can tell maps apart, or they may grow no further."""
    while yardstick.gamma(placed).ratio > SATURATED:
        wider = _wider(yardstick.neighbourhood, relation.shape)
        if wider == yardstick.neighbourhood:
            break
        yardstick = yardstick._replace(pairs=relation_pairs(relation, *wider), neighbourhood=wider)
    return yardstick


def _wider(neighbourhood: Neighbourhood, shape: tuple[int, int]) -> Neighbourhood:
    """Double a neighbourhood, up to a number and a share of the objects."""
    k_rows, k_columns = (
        min(2 * k, max(k, min(WIDEST, int(WIDEST_SHARE * size))))
        for k, size in zip(neighbourhood[:2], shape, strict=True)
    )
    return neighbourhood._replace(k_rows=k_rows, k_columns=k_columns)


def _drawn(pairs: Pairs, count: int, random_state: np.random.Generator) -> Pairs:
    total = len(pairs.rows)
    if total <= count:
        return pairs
    drawn = np.sort(random_state.choice(total, count, replace=False))
    return Pairs(pairs.rows[drawn], pairs.columns[drawn])
