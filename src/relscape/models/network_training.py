"""Training of a document network: its cost, its start, and the descent, put together."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relscape.data import EntitySet
from relscape.errors import ParameterError, RelscapeWarning, UnknownNameError, listing
from relscape.matrix.contents import EXACT_DOCUMENTS
from relscape.models.checks import check_number
from relscape.models.network_start import first_places
from relscape.objectives.link_triples import LinkTriples
from relscape.objectives.linkage import Linkage, LinkageValue
from relscape.objectives.linkage_tiles import Tiles
from relscape.objectives.sampled_linkage import SampledLinkage
from relscape.progress import task
from relscape.protocols import FloatArray, IntArray, SparseArray
from relscape.solvers.adaptive import adam_descent, adaptive_descent
from relscape.solvers.result import SolveResult

__all__ = ["TRAININGS", "Trained", "margin_of", "neighbours_of", "train", "warn_of_unlinked"]

TRAININGS = ("adam", "adaptive")
NORMALISERS = ("auto", "exact", "sampled")
EXACT_NORMALISERS = 20_000  # documents
_DRAWS = 5  # triples a link at each of Adam's steps: less noise for hardly more time


@dataclass(frozen=True, eq=False)
class Trained:
    """Where training ended, what the cost is there, and every document's sum of kernels or its logarithm."""

    result: SolveResult
    value: LinkageValue
    normalisers: FloatArray


def margin_of(margin: float | str, n: int) -> float:
    """Give the margin as a number: "1/n" and its multiples, such as "5/n", follow the number of documents."""
    if not isinstance(margin, str):
        check_number("margin", margin, 0.0)
        return float(margin)
    try:
        share = float(margin.removesuffix("/n")) if margin.endswith("/n") else np.nan
    except ValueError:
        share = np.nan
    if not 0 <= share < np.inf:
        raise ParameterError(f"margin={margin!r}: give a number of at least 0, or a text such as '1/n'.")
    return share / n


def neighbours_of(neighbours: int | str | None, n: int, perplexity: float) -> int | None:
    """Give the number of documents each is compared with by contents; None compares with all."""
    if neighbours != "auto":
        return None if neighbours is None else int(neighbours)
    return None if n <= EXACT_DOCUMENTS else int(np.ceil(3 * perplexity))


def train(
    contents: FloatArray | SparseArray | None,
    pairs: IntArray,
    n: int,
    settings: Any,
    rng: np.random.Generator,
) -> Trained:
    """Place n documents by content probabilities (n × n) and links (L × 2).

    Parameters
    ----------
    contents : array or sparse array, n × n, or None
        None where only links count.
    pairs : integer array of shape (L, 2)
        Row and column of every link.
    n : int
        How many documents there are.
    settings : DocumentNetwork
        Its parameters.
    rng : Generator
        Draws the start and the triples.
    """
    objective = _objective(contents, pairs, n, settings, rng)
    start = first_places(contents, pairs, n, settings.n_components, settings.init, rng)

    def cost(point: FloatArray, triples: IntArray) -> tuple[float, FloatArray]:
        value, gradient = objective.value_and_gradient_of(point, triples)
        return value.total, gradient

    links = LinkTriples(pairs, n)

    def several() -> IntArray:
        return np.concatenate([links.draw(rng) for _ in range(_DRAWS)])

    most, tolerance = settings.max_iterations, settings.tolerance
    with task("placing documents", most) as progress:

        def watch(iteration: int, value: float, point: FloatArray) -> bool:  # noqa: ARG001
            progress.advance()
            return False

        if settings.training == "adam":
            result = adam_descent(
                cost, several, start, max_iterations=most, tolerance=tolerance, callback=watch
            )
        else:
            result = adaptive_descent(
                cost,
                lambda: links.draw(rng),
                start,
                rounds=most,
                tolerance=tolerance,
                callback=watch,
            )
    value, _ = objective.value_and_gradient_of(result.point, several())
    # Probabilities of links rest on these: after training with samples, too, they are worth one exact sum.
    exact = Tiles(result.point, settings.kernel, np.float32).normalisers()
    return Trained(result, value, exact)


def _objective(
    contents: FloatArray | SparseArray | None,
    pairs: IntArray,
    n: int,
    settings: Any,
    rng: np.random.Generator,
) -> Linkage | SampledLinkage:
    margin, weight = margin_of(settings.margin, n), settings.content_weight
    if settings.normaliser not in NORMALISERS:
        raise UnknownNameError("normaliser", settings.normaliser, NORMALISERS)
    exact = n <= EXACT_NORMALISERS if settings.normaliser == "auto" else settings.normaliser == "exact"
    if exact:
        return Linkage(contents, weight, margin, settings.kernel)
    table = csr_array((n, n)) if contents is None else csr_array(contents)
    return SampledLinkage(table, pairs, weight, margin, settings.kernel, random_state=rng)


def warn_of_unlinked(documents: EntitySet, pairs: IntArray) -> None:
    """Warn of documents that nothing holds where only links count."""
    alone = np.ones(len(documents), dtype=bool)
    alone[pairs.ravel()] = False
    if alone.any():
        warnings.warn(
            f"{alone.sum()} of {len(documents)} {documents.kind} things ({listing(documents.ids[alone], 3)}) "
            "have no links, and their contents count nothing: they stay about where chance has put them.",
            RelscapeWarning,
            stacklevel=4,
        )
