"""From relations among kinds to what MultiCODE adds up, and a spectral start for all kinds together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum

import numpy as np
from numpy.random import Generator
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.linalg import LinearOperator

from relscape.matrix.fixed_sums import fixed_sums
from relscape.matrix.operators import LocalRelation
from relscape.matrix.scaling import power
from relscape.matrix.selecting import selected
from relscape.models.likelihood import START_SIZE
from relscape.models.relations import KindCounts, KindRelation
from relscape.objectives.cooccurrence import Table
from relscape.objectives.multiway import TupleTable
from relscape.objectives.pairs import pair_distribution
from relscape.objectives.several import PairTerm, Term, TupleTerm
from relscape.protocols import FloatArray, IntArray, SparseArray
from relscape.solvers.spectral import truncated_svd

__all__ = ["Part", "build_part", "graph_start", "log_factors"]

_NEXT_TO_NOTHING = 1e-200


@dataclass(frozen=True, eq=False)
class Part:
    """One relation ready to be fitted.

    ``things`` are the positions, in their kinds, of the things that occur in it; ``positions`` where their
    points are; ``masses`` the marginals of p̄; ``n_cells`` the size of the table.
    """

    term: Term
    things: tuple[IntArray, ...]
    positions: tuple[IntArray, ...]
    masses: tuple[FloatArray, ...]

    @property
    def n_cells(self) -> float:
        """Count the cells of the table, those without counts too."""
        return float(np.prod([float(len(at)) for at in self.things]))


def build_part(
    relation: KindCounts | KindRelation,
    model: str,
    places: Mapping[str, IntArray],
    equal_rows: bool,
    exclude_self: bool,
) -> Part:
    """Normalise a relation among the things that occur in it.

    Parameters
    ----------
    relation : KindCounts or KindRelation
    model : str
        Two letters for pairs, one a kind for more.
    places : mapping of kind to array
        Where the point of every thing is, -1 for things without any relation.
    equal_rows : bool
        Whether things of the first kind weigh the same.
    exclude_self : bool
        Whether a relation within one kind leaves out pairs of a thing with itself.
    """
    if isinstance(relation, KindRelation):
        return _elsewhere(relation, model, places, equal_rows)
    if len(relation.kinds) == 2 and exclude_self and relation.kinds[0] == relation.kinds[1]:
        return _within(relation, model, places[relation.kinds[0]], equal_rows)
    found = [np.unique(relation.cells[:, v], return_inverse=True) for v in range(len(relation.kinds))]
    things = tuple(used for used, _ in found)
    positions = tuple(places[kind][used] for kind, used in zip(relation.kinds, things, strict=True))
    at = np.column_stack([numbers for _, numbers in found])
    shape = tuple(len(used) for used in things)
    if len(shape) > 2:
        tuples = TupleTable.from_counts(at, relation.counts, shape, equal_rows)
        return Part(TupleTerm(tuples, model, positions), things, positions, tuples.marginals)
    matrix = csr_array(coo_array((relation.counts, (at[:, 0], at[:, 1])), shape=shape))
    table = Table(fixed_sums(LocalRelation(matrix)), equal_rows)
    term = PairTerm(table, model, positions[0], positions[1])
    return Part(term, things, positions, (table.row_masses, table.column_masses))


def _elsewhere(relation: KindRelation, model: str, places: Mapping[str, IntArray], equal_rows: bool) -> Part:
    """Normalise a relation that is not in memory among the rows and columns that have any weight."""
    whole = relation.relation
    used = np.flatnonzero(whole.row_sums() > 0), np.flatnonzero(whole.column_sums() > 0)
    all_used = (len(used[0]), len(used[1])) == whole.shape
    table = Table(fixed_sums(whole if all_used else selected(whole, *used)), equal_rows)
    first, second = (own[at] for own, at in zip(relation.places, used, strict=True))
    positions = places[relation.kinds[0]][first], places[relation.kinds[1]][second]
    term = PairTerm(table, model, *positions)
    return Part(term, (first, second), positions, (table.row_masses, table.column_masses))


def _within(relation: KindCounts, model: str, places: IntArray, equal_rows: bool) -> Part:
    """Lay out a relation within one kind as a square, in which a thing and itself can be left out.

    Things that are never a row, or never a column, get next to nothing there.
    """
    things, numbers = np.unique(relation.cells, return_inverse=True)
    i, j = numbers.reshape(relation.cells.shape).T
    size = len(things)
    sums = np.bincount(i, relation.counts, size)
    counts = relation.counts / sums[i] if equal_rows else relation.counts / sums.sum()
    no_row, no_column = sums == 0, np.bincount(j, relation.counts, size) == 0
    positions = places[things]
    if not (no_row.any() or no_column.any()):
        matrix = csr_array(coo_array((counts, (i, j)), shape=(size, size)))
        table = Table(LocalRelation(matrix))
        term = PairTerm(table, model, positions, positions, exclude_self=True)
        return Part(term, (things, things), (positions,) * 2, (table.row_masses, table.column_masses))
    rows, columns = np.flatnonzero(no_row), np.flatnonzero(no_column)
    i = np.concatenate([i, rows, (columns + 1) % size])
    j = np.concatenate([j, (rows + 1) % size, columns])
    counts = np.concatenate([counts, np.full(len(rows) + len(columns), _NEXT_TO_NOTHING)])
    table = Table(LocalRelation(csr_array(coo_array((counts, (i, j)), shape=(size, size)))))
    term = PairTerm(table, model, positions, positions, True, no_row, no_column)
    return Part(
        term,
        (things[~no_row], things[~no_column]),
        (positions[~no_row], positions[~no_column]),
        (table.row_masses[~no_row], table.column_masses[~no_column]),
    )


def log_factors(part: Part, model: str, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the logarithms of what weighs the rows, and the columns, when the other side is conditioned on."""
    if isinstance(part.term, PairTerm) and part.term.exclude_self:
        return part.term.log_factors(points)
    left, right = (points[at] for at in part.positions)
    fitted = pair_distribution(model, left, right, part.masses[0], part.masses[1])
    return fitted.row_factors, fitted.column_factors


def graph_start(
    relations: Sequence[KindCounts | KindRelation],
    places: Mapping[str, IntArray],
    total: int,
    k: int,
    random_state: Generator,
) -> FloatArray:
    """Place all kinds together by the leading vectors of the graph that the relations make.

    Every relation counts the same; a relation of more kinds joins each two of them. For two kinds these are
    the symmetric coordinates of correspondence analysis. The mean size is 0.3 (spec 4); axes that do not
    exist are filled with a little noise, because a flat start would stay flat.
    """
    graph = _graph([r for r in relations if isinstance(r, KindCounts) and len(r.kinds) > 2], places, total)
    pairs = [_Edges(r, places, total) for r in relations if len(r.kinds) == 2]
    sums = np.asarray(graph.sum(axis=1)).ravel() + sum(edges.times(np.ones(total)) for edges in pairs)
    scale = power(sums, -0.5)
    balanced = diags_array(scale) @ graph @ diags_array(scale)
    trivial = np.sqrt(sums / sums.sum())

    def times(x: FloatArray) -> FloatArray:
        # (1 + S)/2 has no negative values, so that its singular vectors are those of S in S's own order
        image = balanced @ x
        for edges in pairs:
            image = image + (scale * edges.times((scale * x.T).T).T).T
        shifted: FloatArray = 0.5 * (x + image) - np.outer(trivial, trivial @ x).reshape(x.shape)
        return shifted

    operator = LinearOperator((total, total), matvec=times, rmatvec=times, matmat=times, rmatmat=times)
    found = truncated_svd(operator, max(1, min(k, total - 2)), random_state, tolerance=1e-3)
    values = 2.0 * found.values - 1.0
    there = values > 1e-6
    points = random_state.normal(scale=0.05, size=(total, k))
    spread = scale[:, None] * found.U[:, there] * np.sqrt(values[there])
    size = np.sqrt((sums @ spread**2).sum() / sums.sum()) if there.any() else 1.0
    points[:, : len(values)][:, there] = spread * (START_SIZE / size)
    return points


class _Edges:
    """What a relation of two kinds adds to the graph of all kinds, both ways, weights of sum 1."""

    def __init__(
        self, relation: KindCounts | KindRelation, places: Mapping[str, IntArray], total: int
    ) -> None:
        # things without a point (-1) have no weight either: they read and write one place too many
        self._rows, self._columns = (places[kind] for kind in relation.kinds)
        if isinstance(relation, KindRelation):
            self._relation = fixed_sums(relation.relation)
            self._rows, self._columns = self._rows[relation.places[0]], self._columns[relation.places[1]]
        else:
            entries = coo_array(
                (relation.counts, (relation.cells[:, 0], relation.cells[:, 1])),
                shape=(len(self._rows), len(self._columns)),
            )
            self._relation = fixed_sums(LocalRelation(csr_array(entries)))
        self._total = total
        self._share = 1.0 / fsum(self._relation.row_sums())

    def times(self, x: FloatArray) -> FloatArray:
        """Multiply by one value, or one row, for every point."""
        given = np.concatenate([x, np.zeros((1, *x.shape[1:]))])
        image = np.zeros_like(given)
        np.add.at(image, self._rows, self._share * self._relation.matmat(given[self._columns]))
        np.add.at(image, self._columns, self._share * self._relation.rmatmat(given[self._rows]))
        return image[: self._total]


def _graph(relations: Sequence[KindCounts], places: Mapping[str, IntArray], total: int) -> SparseArray:
    graph = csr_array((total, total))
    for relation in relations:
        ends = [places[kind][relation.cells[:, v]] for v, kind in enumerate(relation.kinds)]
        shares = relation.counts / relation.counts.sum()
        for one, other in combinations(ends, 2):
            edges = csr_array(coo_array((shares, (one, other)), shape=(total, total)))
            graph = graph + edges + edges.T
    return csr_array(graph)
