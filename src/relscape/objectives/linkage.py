"""What a document network minimises: links above others by a margin, the map's neighbours those of contents.

With p_ij = w_ij / Z_i, w = 1/(1 + d) or exp(−d) of the squared distance d on the map, q the content
probabilities, T triples of a document, one that it links to and one that it does not, the cost is

    n · mean over T of [p_il − p_ij + margin]₊ + content_weight/(n − 1) · Σ_i KL(q_i ‖ p_i)

(specification of the document network, sections 2 and 4): n times the loss, so that steps have the size of
the map whatever the number of documents. Exact; all pairs are seen tile by tile and never kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from relscape.data.links import FEWEST_DOCUMENTS
from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.objectives.link_margin import LinkTerms, link_terms
from relscape.objectives.linkage_tiles import KERNELS, Tiles
from relscape.objectives.neighbour import information
from relscape.objectives.neighbour_sums import edges
from relscape.protocols import FloatArray, IntArray, SparseArray

__all__ = ["Linkage", "LinkageValue", "check_linkage", "linkage_value"]


class LinkageValue(NamedTuple):
    """The cost and its two parts, and how far the links have come.

    ``active_share`` is the share of triples that do not keep the margin yet, ``mean_link_probability`` the
    mean probability of the links among them.
    """

    total: float
    link: float
    content: float
    active_share: float
    mean_link_probability: float


class Linkage:
    """The exact cost of a document network.

    Parameters
    ----------
    contents : array or sparse array of shape (n, n), or None
        Content probabilities: rows sum to 1, no diagonal. None where only links count.
    content_weight : float
        How much the divergences of the contents count beside the links; 0 ignores the contents.
    margin : float
        By how much a linked document's probability should exceed another's.
    kernel : {"cauchy", "gaussian"}
    dtype : type
        In which numbers all pairs are summed. Single precision leaves six digits or so of a gradient.
    """

    def __init__(
        self,
        contents: FloatArray | SparseArray | None,
        content_weight: float,
        margin: float,
        kernel: str = "cauchy",
        dtype: type[np.floating] = np.float32,
    ) -> None:
        check_linkage(contents, content_weight, margin, kernel)
        self.margin, self.kernel, self.dtype = margin, kernel, dtype
        self._n: int | None = None
        self._share, self._constant = 0.0, 0.0
        self._dense: FloatArray = np.empty((0, 0), dtype)
        self._sparse: SparseArray | None = None
        if contents is None or content_weight == 0:
            return
        self._n = contents.shape[0]
        self._share = content_weight / (self._n - 1)
        self._constant = self._share * information(contents)
        if issparse(contents):
            self._sparse = csr_array(self._share * (contents + contents.T))
        else:
            self._dense = (self._share * (contents + contents.T)).astype(dtype)

    def normalisers(self, H: FloatArray) -> FloatArray:
        """Give every document's sum of kernels over all the others; logarithms for the Gaussian one."""
        return Tiles(H, self.kernel, self.dtype).normalisers()

    def value_and_gradient_of(self, H: FloatArray, triples: IntArray) -> tuple[LinkageValue, FloatArray]:
        """Give the cost made of these triples (T × 3: i, j, l) and of all contents, and its gradient."""
        if self._n is not None and len(H) != self._n:
            raise DataError(f"there are {len(H)} places for {self._n} documents; give one place each.")
        tiles = Tiles(H, self.kernel, self.dtype)
        normalisers = tiles.normalisers()
        links = link_terms(H, normalisers, triples, self.margin, self.kernel)
        forces, energy = tiles.forces(normalisers, links.row_weights - self._share, self._dense)
        if self._sparse is not None:
            pulls, energy = _pulled(H, self._sparse, self.kernel)
            forces += pulls
        value = linkage_value(links, normalisers, self.kernel, self._share, self._constant + energy)
        return value, links.gradient + 2.0 * forces


def linkage_value(
    links: LinkTerms, normalisers: FloatArray, kernel: str, share: float, energy: float
) -> LinkageValue:
    """Put the cost together.

    Parameters
    ----------
    links : LinkTerms
    normalisers : array of shape (n,)
        Their logarithms for the Gaussian kernel.
    kernel : {"cauchy", "gaussian"}
    share : float
        What one document's divergence counts, content_weight/(n − 1).
    energy : float
        ``share`` times Σ_ij q_ij log(q_ij/w_ij), the divergences without the normalisers.
    """
    content = 0.0
    if share > 0:
        logs = np.log(normalisers) if kernel == "cauchy" else normalisers
        content = energy + share * float(logs.sum())
    return LinkageValue(
        links.value + content, links.value, content, links.active_share, links.mean_link_probability
    )


def check_linkage(
    contents: FloatArray | SparseArray | None, content_weight: float, margin: float, kernel: str
) -> None:
    """Refuse what no cost of a document network can be made of."""
    if kernel not in KERNELS:
        raise UnknownNameError("kernel", kernel, KERNELS)
    if not 0 <= content_weight < np.inf:
        raise ParameterError(f"content_weight={content_weight}: expected 0 (links only) or more.")
    if not 0 <= margin < np.inf:
        raise ParameterError(f"margin={margin}: expected 0 or more; 1/n is usual for n documents.")
    if contents is None:
        if content_weight > 0:
            raise DataError(
                f"content_weight={content_weight} without contents; give their probabilities, or weight 0."
            )
        return
    n, columns = contents.shape
    if n != columns or n < FEWEST_DOCUMENTS:
        raise DataError(
            f"content probabilities of shape {n} × {columns}; expected n × n for {FEWEST_DOCUMENTS} or more "
            "documents: with fewer, there is nothing to choose between."
        )


def _pulled(H: FloatArray, pulls: SparseArray, kernel: str) -> tuple[FloatArray, float]:
    """Sum up the pulls y of a symmetric sparse matrix.

    Gives Σ_j y_ij f_ij (h_i − h_j), and Σ_{i<j} y_ij (−log w_ij);
    f is 1/(1 + d) for the Cauchy kernel w and 1 for the Gaussian one.
    """
    if kernel == "cauchy":
        forces, logs = edges(H, pulls)
        return forces, -0.5 * logs
    centred = H - H.mean(axis=0)
    forces = pulls.sum(axis=1)[:, None] * centred - pulls @ centred
    return forces, float(np.sum(centred * forces))
