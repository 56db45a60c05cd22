"""COVA: a map on which cohorts lie where one wants them, and neighbours stay neighbours."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from relscape import progress
from relscape.data import EntitySet
from relscape.data.labels import as_text
from relscape.errors import DataError, ParameterError, RelscapeWarning, listing
from relscape.maps import Group
from relscape.matrix.affinity import Affinity, AffinitySettings, given_affinity
from relscape.matrix.confidence import Confidence
from relscape.matrix.features import FittedFeatures
from relscape.models.base import told_of_lost
from relscape.models.checks import generator
from relscape.models.cohort_base import CohortModel
from relscape.models.cova_fitting import Effort
from relscape.models.cova_guides import COHORT, read_anchors, read_links, read_start
from relscape.models.cova_moving import moved
from relscape.models.cova_placing import new_links, placed_by_features, placed_by_neighbours
from relscape.models.cova_problem import (
    cohorts_of,
    completed,
    confidence_of,
    default_floor,
    held,
    is_matrix,
    layout_of,
    only_among,
    weights_of,
)
from relscape.models.cova_settings import (
    MOST_ENTRIES,
    alpha_of,
    check_local,
    check_parameters,
    check_spread,
    keeps_response,
    tolerance_of,
)
from relscape.models.cova_variants import Fitted, Problem, fit_variant
from relscape.models.feature_inputs import Features, read_new_features, warn_of_order
from relscape.models.prototype_names import in_order_of
from relscape.models.prototypes import CohortSource, given_prototypes
from relscape.objectives.cohort import Anchors
from relscape.protocols import AnyArray, BoolArray, Callback, FloatArray, SparseArray
from relscape.solvers.result import SolveResult
from relscape.threads import one_thread

__all__ = ["COVA"]


class COVA(CohortModel):
    """Cohort-controlled embedding (Mu, Goulermas and Ananiadou).

    Samples come in cohorts, and every cohort has a prototype: the spot where it should lie. COVA places the
    samples so that each lies near its prototypes and near its neighbours: it minimises α O_C + (1 − α) O_L,
    where either term is a sum of squared distances or a Kullback-Leibler divergence as in t-SNE.

    Parameters
    ----------
    variant : {"E1", "E2", "E3", "E4", "P1", "P2", "P3", "P4", "eigen"}
        E variants seek the places themselves, P variants an orthonormal projection of relation features,
        "eigen" a projection by eigenvectors, quick. 1: both terms distances (E1 is one linear system, and its
        prototypes can be dragged); 2: both divergences; 3: distances to prototypes, divergence of neighbours;
        4: the other way round.
    n_components : int
        Number of axes.
    alpha : float or "auto"
        Weight of the cohorts against the neighbours, from 0 to 1; "auto" is 0.6, for projections 0.9.
    eta : float or "auto"
        For "eigen": weight of nearness to prototypes against prototypes staying apart. "auto" is 0.8, or less
        where that shows nothing.
    affinity : {"perplexity", "cosine", "distance"}, settings or sparse array, n × n
        How strongly neighbours belong together: :class:`~relscape.GaussianAffinity`,
        :class:`~relscape.CosineAffinity`, :class:`~relscape.DistanceAffinity`, or the weights themselves,
        for E1 also spread over a cluster.
    confidence : {"gaussian", "student", "kernel", "range"}, settings or array, n × c
        How surely samples belong to cohorts: :class:`~relscape.GaussianConfidence` and its kin, or the table
        itself.
    prototypes : {"sne", "tsne", "mds", "laplacian", "means"}, settings, mapping, data frame or array, c × k
        Where cohorts should lie: an arrangement of the cohorts by how alike they are
        (:class:`~relscape.SNEPrototypes` and its kin), or the places themselves: by name,
        ``{cohort: place}`` or a frame with the cohorts as its index, or an array in the order of the sorted
        labels.
    n_neighbors : int
        Number of neighbours, the perplexity for ``affinity="perplexity"``; at most a third of the samples.
    scale : float or "auto"
        The RMS radius of automatic prototypes, or a factor for given ones. It matters where divergences
        compare, whose kernel has width 1: "auto" then takes the smallest size at which E1's picture has a
        divergence within 0.1 % of the least (E2, E3) or 2 (E4), and 1 elsewhere.
    local : {"joint", "conditional"}
        How E2, E3, P2 and P3 compare neighbours: all pairs as one distribution, as t-SNE does, or those of
        every sample by themselves, so that samples in sparse parts count as much; for up to 10,000 samples.
    features : {"euclidean", "gaussian", "cosine"} or RelationFeatures
        How projections describe samples: by their relations to representatives.
    n_cohorts : int
        How many cohorts to find by clustering where no labels are given.
    solver : {"auto", "lbfgs", "momentum", "descent"}
        Of E2 to E4. "auto" takes L-BFGS on exact sums up to 3,000 samples, and momentum on quick ones beyond;
        where there are no quick ones, as of E4, L-BFGS up to 5,000.
    max_iterations : int
        At most so many steps of the iterative variants.
    tolerance : float or "auto"
        When to stop: the gradient as a share of an average sample's pull (E2 to E4) or of its first size (P),
        or the residual of E1's system. "auto" is 1e-5, and 1e-10 for E1.
    retraction : {"qr", "polar"}
        How P variants keep their columns orthonormal.
    batch_size : int, optional
        P variants look at so many samples at a time; all at once unless given.
    keep_response : bool or "auto"
        Whether E1 keeps ``response_``, by which prototypes are dragged without a new solution; "auto" does up
        to 2·10⁷ entries.
    random_state : int, Generator or None
        Draws representatives, starts and clusters.

    Attributes
    ----------
    embedding_ : array, n × k
        Places of the samples; NaN for those that nothing holds.
    prototypes_ : array, c × k
        Where the cohorts' prototypes are on the map.
    cohorts_ : array of c names, sorted as the labels are
    labels_, predicted_ : arrays of n
        The cohort of every sample as a position in ``cohorts_`` (-1: none), and whether it was predicted.
    affinity_, confidence_ : sparse array n × n; array n × c
        Weights and confidences, each of sum 1.
    response_ : array, n × c
        E1 only: ``embedding_ = response_ @ prototypes_`` (with anchors, plus ``anchor_response_`` times their
        places). An entry is the share of a cohort in a sample's place.
    projection_ : array
        P and eigen: features times this are the places.
    alpha_, eta_, scale_ : float
        The values used; ``eta_`` is NaN for other variants than "eigen".
    objective_ : array of 2
        O_C and O_L at the end.
    solve_result_ : SolveResult
        How the solver fared.

    Examples
    --------
    >>> from relscape.datasets import make_cohorts
    >>> shape = make_cohorts("sinusoid", n=300)
    >>> model = COVA("E1", random_state=0).fit(shape.points, shape.labels)
    >>> model.embedding_.shape, model.prototypes_.shape
    ((300, 2), (6, 2))
    """

    affinity_settings_: Any
    affinity_fit_: Any
    confidence_fit_: Confidence
    # Settings and weights of an earlier fit to the same data, where a series of fits hands them on.
    _weighed: tuple[AffinitySettings | None, Affinity] | None = None

    def __init__(
        self,
        variant: str = "E1",
        n_components: int = 2,
        alpha: float | str = "auto",
        eta: float | str = "auto",
        affinity: Any = "perplexity",
        confidence: Any = "gaussian",
        prototypes: Any = "sne",
        n_neighbors: int = 30,
        random_state: Any = None,
        *,
        scale: float | str = "auto",
        local: str = "joint",
        features: Any = "euclidean",
        n_cohorts: int = 10,
        solver: str = "auto",
        max_iterations: int = 500,
        tolerance: float | str = "auto",
        retraction: str = "qr",
        batch_size: int | None = None,
        keep_response: bool | str = "auto",
    ) -> None:
        self.variant = variant
        self.n_components = n_components
        self.alpha = alpha
        self.eta = eta
        self.affinity = affinity
        self.confidence = confidence
        self.prototypes = prototypes
        self.n_neighbors = n_neighbors
        self.random_state = random_state
        self.scale = scale
        self.local = local
        self.features = features
        self.n_cohorts = n_cohorts
        self.solver = solver
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.retraction = retraction
        self.batch_size = batch_size
        self.keep_response = keep_response

    def fit(self, X: Any, y: Any = None, links: Any = None, anchors: Any = None, init: Any = None) -> Self:
        """Place samples.

        Parameters
        ----------
        X : array, sparse array, data frame, RelationalData, or None
            Features of the samples, n × d. None where ``affinity`` holds the weights.
        y : sequence of labels, optional
            The cohort of every sample, of any type; None, NaN or (among integers) -1 where unknown: such
            labels are predicted by the nearest labelled samples. Without y, cohorts are found by clustering.
        links : n × n array, or list or data frame of pairs, optional
            Directed links between samples, such as citations, by which prototypes can be arranged.
        anchors : mapping, optional
            ``{position or id: (place, weight)}``: holds a sample to a place; a weight of 1 is as strong as
            all else that pulls an average sample. For "eigen", a place moves with the prototypes.
        init : array, n × k, or Map, optional
            An arrangement to start from, NaN where a sample is new. Automatic prototypes are turned and
            shifted to it, so that a map can grow without jumping.
        """
        check_parameters(self)
        rng = generator(self.random_state)
        # Sums of linear algebra over several threads would end in other last digits.
        with one_thread(), progress.task(f"fitting COVA {self.variant}") as task:

            def watch(iteration: int, value: float, point: FloatArray) -> bool:  # noqa: ARG001
                task.advance()
                return False

            self._fit(X, y, links, anchors, init, rng, watch)
        return self

    def _fit(
        self, X: Any, y: Any, links: Any, anchors: Any, init: Any, rng: np.random.Generator, watch: Callback
    ) -> None:
        features, n = self._read_samples(X)
        check_local(self, n)
        warn_of_order(X, y)
        samples = self.row_entities_
        joined = read_links(links, samples)
        pinned = read_anchors(anchors, samples, self.n_components)
        start = read_start(init, samples, self.n_components, self.variant)
        weighed = self._weighed
        if is_matrix(self.affinity) and weighed is None:
            weighed = None, given_affinity(self.affinity, n)
            check_spread(self, weighed[1].weights, y)
        cohorts = cohorts_of(
            y, features, None if weighed is None else weighed[1].weights, n, self.n_cohorts, rng
        )
        c = len(cohorts.names)
        if weighed is None:
            weighed = weights_of(self.affinity, self.n_neighbors, features, n, cohorts.codes, rng)
        self.affinity_settings_, self.affinity_fit_ = weighed
        weights = self.affinity_fit_.weights
        labelled = cohorts.codes  # prototypes come from labelled samples only
        cohorts = completed(cohorts, features, weights, self._metric())
        self._keep_cohorts(cohorts)
        self.confidence_settings_, self.confidence_fit_ = confidence_of(
            self.confidence, cohorts, weights, features, default_floor(self.variant, c)
        )
        layout = layout_of(
            in_order_of(cohorts.names, self.prototypes),
            CohortSource(features, labelled, c, weights, joined),
            self.n_components,
            rng,
        )
        there = self._held(pinned)
        problem = Problem(
            self.variant, alpha_of(self), self.eta, self.affinity_, self.confidence_, layout, pinned, start,
            cohorts, features, joined, self.local,
        )  # fmt: skip
        fitted = self._solved(problem if there.all() else problem.among(there), rng, watch)
        self._keep(fitted if there.all() else fitted.among_more(there), pinned)

    def _held(self, anchors: Anchors | None) -> BoolArray:
        """Tell which samples get a place: all, in a projection, otherwise those that something holds."""
        if self.variant[0] != "E":
            return np.ones(len(self.labels_), dtype=bool)
        there = held(self.affinity_, self.confidence_, anchors)
        if there.all():
            return there
        lost = self.row_entities_.ids[~there]
        if lost.size == there.size:
            raise DataError("nothing holds any sample in place: no sample has a cohort it is confident of.")
        warnings.warn(
            f"{lost.size} of {there.size} samples ({listing(lost, 3)}) have neither a cohort nor a neighbour "
            "that leads to one, and get no place on the map.",
            RelscapeWarning,
            stacklevel=5,
        )
        self.affinity_fit_ = only_among(self.affinity_fit_, there)
        return there

    def _solved(self, problem: Problem, rng: np.random.Generator, watch: Callback) -> Fitted:
        return fit_variant(
            problem,
            Effort(self.solver, tolerance_of(self), self.max_iterations, watch),
            rng,
            scale=None if self.scale == "auto" else float(self.scale),
            features=self.features,
            retraction=self.retraction,
            batch_size=self.batch_size,
            keep_response=keeps_response(self, *problem.confidence.shape),
        )

    # ------------------------------------------------------------------ what was given

    def _metric(self) -> str:
        """Say by what distance the features of samples are compared: as the affinity does."""
        return getattr(self.affinity_settings_, "metric", "euclidean")

    def _read_samples(self, X: Any) -> tuple[Features | None, int]:
        """Read the features; without any, the samples are counted by the weights."""
        if X is not None:
            features = self._keep_features(X)
            if features.shape[0] < 2:
                raise DataError("n_samples=1: a map of one sample shows nothing; give more.")
            return features, features.shape[0]
        if not is_matrix(self.affinity):
            raise DataError("without features X, give the weights of pairs of samples as affinity (n × n).")
        self._forget()
        n = len(self.affinity) if isinstance(self.affinity, list | tuple) else self.affinity.shape[0]
        named = getattr(self.affinity, "row_entities", None)
        self.row_entities_ = EntitySet("sample", as_text(range(n))) if named is None else named
        self.column_entities_ = EntitySet("feature", as_text([]))
        self.n_features_in_ = 0
        self.data_fingerprint_ = getattr(self.affinity, "fingerprint", "")
        self.features_ = np.empty((n, 0))
        return None, n

    # ------------------------------------------------------------------ what was learned

    def _keep(self, fitted: Fitted, anchors: Anchors | None) -> None:
        self.embedding_, self.prototypes_ = fitted.embedding, fitted.prototypes
        self.scale_, self.alpha_, self.eta_ = fitted.scale, alpha_of(self), fitted.eta
        self.objective_ = np.array(fitted.objective)
        self.solve_result_: SolveResult = fitted.solved
        self.anchors_ = anchors
        if fitted.response is not None:
            self.response_, self.anchor_response_ = fitted.response, fitted.anchor_response
        if fitted.projection is not None:
            self.projection_, self.origin_ = fitted.projection, fitted.origin
            self.relations_: FittedFeatures = fitted.relations
            self.feature_settings_ = fitted.feature_settings
        if fitted.prototype_map is not None:
            self.prototype_map_ = fitted.prototype_map

    @property
    def affinity_(self) -> SparseArray:
        """Weights between samples, W: symmetric, of sum 1."""
        weights: SparseArray = self.affinity_fit_.weights
        return weights

    @property
    def confidence_(self) -> Any:
        """Confidences of samples in cohorts, R, of sum 1; sparse where only own cohorts count."""
        return self.confidence_fit_.matrix

    # ------------------------------------------------------------------ moving and placing

    def move(self, prototypes: Any, start: Any = None) -> FloatArray:
        """Give the places of the samples for other prototypes; the model stays as it is.

        Parameters
        ----------
        prototypes : array, c × k, mapping or data frame
            Where the cohorts should lie now, on the map, by name or in the order of ``cohorts_``.
        start : array, n × k, optional
            Where E2 to E4 begin; the model's own places unless given.
        """
        check_is_fitted(self)
        given = in_order_of(self.cohorts_, prototypes)
        places = given_prototypes(given, len(self.cohorts_), self.embedding_.shape[1])
        begin = self.embedding_ if start is None else np.asarray(start, dtype=np.float64)
        if begin.shape != self.embedding_.shape:
            raise ParameterError(f"start has shape {begin.shape}; expected {self.embedding_.shape}.")
        return moved(self, places, begin).embedding

    def transform(self, X: Any, links: Any = None) -> FloatArray:
        """Place new samples, each by itself; a sample that was there already comes to its own place.

        Parameters
        ----------
        X : array, sparse array, data frame or RelationalData
            Features of the new samples, m × d.
        links : array or sparse array, m × n, optional
            Links from the new samples to those of the fit; for projections of compacted features that were
            fitted with links.
        """
        check_is_fitted(self)
        if self.features_.shape[1] == 0:
            raise ParameterError(
                "this model was fitted on weights alone, without features, so it cannot place new samples."
            )
        new, names = read_new_features(self, X)
        joined = new_links(self, links, new.shape[0])
        with one_thread():
            if self.variant[0] == "E":
                placed = placed_by_neighbours(self, new)
            else:
                placed = placed_by_features(self, new, joined)
        return told_of_lost(placed, names, self.row_entities_.kind)

    # ------------------------------------------------------------------ maps

    def _more_groups(self) -> list[Group]:
        """Put the prototypes on the map, each with the size of its cohort."""
        kind = COHORT if self.row_entities_.kind != COHORT else f"{COHORT}-prototype"
        sizes = np.bincount(self.labels_[self.labels_ >= 0], minlength=len(self.cohorts_))
        return [Group(kind, self.cohorts_, self.prototypes_, fields={"size": sizes})]

    def _map_arrays(self) -> dict[str, AnyArray]:
        arrays: dict[str, AnyArray] = {"prototypes": self.prototypes_}
        if hasattr(self, "response_"):
            arrays["response"] = self.response_.astype(np.float32)
        confidence = self.confidence_
        if np.prod(confidence.shape) <= MOST_ENTRIES:
            dense = confidence.toarray() if hasattr(confidence, "toarray") else confidence
            arrays["confidence"] = dense.astype(np.float32)
        return arrays
