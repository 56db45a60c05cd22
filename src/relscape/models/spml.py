"""SPML: a metric of contents under which linked documents lie near each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from relscape.errors import DataError
from relscape.matrix.contents import row_normalized
from relscape.models.checks import check_dimensions, check_flags, check_integer, check_number
from relscape.models.feature_inputs import Features
from relscape.models.network_axes import leading_directions
from relscape.models.network_base import NetworkModel
from relscape.models.undirected import needed
from relscape.objectives.link_triples import LinkTriples
from relscape.objectives.metric import MetricLoss
from relscape.progress import task
from relscape.protocols import FloatArray, IntArray
from relscape.solvers.semidefinite import positive_part, square_root

__all__ = ["SPML"]

_BATCH = 1_000  # triples a step, at least where there are as many
_PROJECT = 10  # steps between two projections
_ROUNDING = 1e-9


class SPML(NetworkModel):
    """Learn a metric of contents under which linked documents lie nearer than others.

    Structure preserving metric learning: D_M(i, j) = (v_i − v_j)'M(v_i − v_j), M positive semidefinite, is to
    be smaller by 1 for documents that are linked than for those that are not. M is found by stochastic
    subgradient steps, each on some thousand drawn triples. Directions of links do not count.

    Parameters
    ----------
    n_components : int
        Contents of more features are first reduced to so many axes (truncated singular value decomposition):
        M has the square of this number as entries.
    shrinkage : float
        What the square of M costs, contents being scaled to a mean squared distance of 1.
    n_steps : int
        How many subgradient steps; the last half is averaged.
    row_normalize : bool
        Whether contents are scaled to length 1 first.
    direction : {"out", "in"}
        Whether ``predict_links`` and ``rank`` look for what a document links to, or what links to it.
    random_state : int, Generator or None
        Seed of the draws.

    Attributes
    ----------
    embedding_ : array, n × k
        Documents in coordinates in which D_M is the squared distance, widest axis first.
    projection_ : array, d × k
        Contents times this are such coordinates.

    References
    ----------
    B. Shaw, B. Huang, T. Jebara: Learning a distance metric from a network. NIPS 2011.
    """

    def __init__(
        self,
        n_components: int = 100,
        shrinkage: float = 1e-4,
        n_steps: int = 500,
        row_normalize: bool = True,
        direction: str = "out",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.n_steps = n_steps
        self.row_normalize = row_normalize
        self.direction = direction
        self.random_state = random_state

    def _check(self) -> None:
        check_dimensions("n_components", self.n_components)
        check_integer("n_steps", self.n_steps, 2)
        check_number("shrinkage", self.shrinkage, 1e-12)
        check_flags(self, "row_normalize")

    def _learn(self, V: Features | None, pairs: IntArray, rng: np.random.Generator) -> None:
        given, linked = needed(V, pairs, "SPML")
        contents = self._scaled(given)
        axes = leading_directions(contents, self.n_components, rng)
        reduced = axes.U * axes.values
        spread = np.sqrt(2.0 * reduced.var(axis=0).sum())
        if spread <= _ROUNDING * np.linalg.norm(reduced):
            raise DataError("all documents have the same contents; SPML has nothing to tell them apart by.")
        metric = self._descended(reduced / spread, linked, rng)
        self.projection_ = axes.V @ square_root(metric) / spread
        self.embedding_ = np.asarray(contents @ self.projection_)

    def _descended(self, features: FloatArray, linked: IntArray, rng: np.random.Generator) -> FloatArray:
        """Find the metric: steps of 1/(λ t), projected on the semidefinite matrices now and then."""
        shrinkage = float(self.shrinkage)
        loss = MetricLoss(features, shrinkage)
        side = features.shape[1]
        metric: FloatArray = np.zeros((side, side))
        total = np.zeros((side, side))
        half = self.n_steps // 2
        with task("learning a metric", total=self.n_steps) as progress:
            batches = _batches(linked, len(features), rng)
            for step, triples in enumerate(islice(batches, self.n_steps)):
                _, slope = loss.value_and_gradient_of(metric, triples)
                metric = metric - slope / (shrinkage * (step + 1))
                if (step + 1) % _PROJECT == 0:
                    metric = positive_part(metric)
                if step >= half:
                    total += metric
                progress.advance()
        return positive_part(total / (self.n_steps - half))

    def _scaled(self, V: Any) -> Any:
        return row_normalized(V) if self.row_normalize else V

    def _scores(self, rows: IntArray) -> FloatArray:
        return self._score_as_rows(self.embedding_[rows])

    def _place(self, V: Features) -> FloatArray:
        return np.asarray(self._scaled(V) @ self.projection_)

    def _score_as_rows(self, known: FloatArray) -> FloatArray:
        return -np.asarray(euclidean_distances(known, self.embedding_, squared=True))


def _batches(linked: IntArray, n: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Deal triples of all links into batches, again and again, each time with others that are not linked."""
    links = LinkTriples(linked, n)
    while True:
        triples = rng.permutation(links.draw(rng))
        yield from np.array_split(triples, max(1, len(triples) // _BATCH))
