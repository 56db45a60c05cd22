"""Link prediction in a document network: where true links stand among all that could be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from relscape.data.known import known_tails
from relscape.errors import DataError
from relscape.protocols import FloatArray, IntArray
from relscape.scores.rank_counts import Counts, count_ranks
from relscape.scores.rank_figures import HITS, RankFigures, ranks_of, table_text

__all__ = ["LinkReport", "rank_links"]


@dataclass(frozen=True, eq=False)
class LinkReport(RankFigures):
    """How high a model ranks true links. Figures are raw, among all other documents, unless narrowed.

    ``filtered`` is the same report with other known links left out, ``optimistic`` and ``pessimistic`` the
    same with every tie in favour of the true link or against it.

    Parameters
    ----------
    counts : Counts
        What every link is up against: the candidates before it and level with it.
    rivals, raw_rivals : array
        How many other candidates there are for every link, without and with other known links.
    pairs : array of shape (L, 2)
        The links, from and to, in the order of ``ranks``.
    is_filtered : bool
        Whether other known links are left out.
    ties : str
        "realistic", "optimistic" or "pessimistic".
    """

    counts: Counts
    rivals: IntArray
    raw_rivals: IntArray
    pairs: IntArray
    is_filtered: bool = False

    # ------------------------------------------------------------------ figures

    @cached_property
    def ranks(self) -> FloatArray:
        """The rank of every link, in the order of ``pairs``; 1 is best."""
        return ranks_of(self.counts, self.is_filtered, self.ties)

    @property
    def n_links(self) -> int:
        """How many links were ranked."""
        return len(self.counts.better)

    @cached_property
    def auc(self) -> float:
        """How often a link lies before another candidate of the same document, averaged over links.

        The area under the ROC curve; a tie counts half. NaN where no link has a rival.
        """
        rivals = self.rivals if self.is_filtered else self.raw_rivals
        there = rivals > 0
        if not there.any():
            return float("nan")
        lost = (ranks_of(self.counts, self.is_filtered, "realistic") - 1.0)[there] / rivals[there]
        return float(1.0 - lost.mean())

    # ------------------------------------------------------------------ narrower reports

    @property
    def filtered(self) -> LinkReport:
        """The same with other known links left out of the candidates."""
        return replace(self, is_filtered=True)

    # ------------------------------------------------------------------ telling

    def figures(self) -> dict[str, Any]:
        """Give mean rank, MRR, hits, AUC and the number of links as plain values."""
        return super().figures() | {"auc": self.auc, "n_links": self.n_links}

    def to_dict(self) -> dict[str, Any]:
        """Give all figures as plain values, raw and filtered, and the tie rule."""
        return self.figures() | {"filtered": self.filtered.figures(), "ties": self.ties}

    def rows(self) -> list[tuple[str, ...]]:
        """Give the lines of a table: what, links, mean rank, MRR, AUC, hits@1, @3 and @10."""
        parts = {"filtered": self} if self.is_filtered else {"raw": self, "filtered": self.filtered}
        return [
            (
                name,
                f"{part.n_links:,}",
                f"{part.mean_rank:,.1f}",
                f"{part.mrr:.3f}",
                f"{part.auc:.3f}",
                *(f"{share:.1%}" for share in part.hits.values()),
            )
            for name, part in parts.items()
        ]

    def __str__(self) -> str:
        header = ("", "links", "mean rank", "MRR", "AUC", *(f"hits@{most}" for most in HITS))
        return f"{table_text(header, self.rows())}\nties: {self.ties}"

    def __repr__(self) -> str:
        return f"<LinkReport: mean rank {self.mean_rank:.4g}, AUC {self.auc:.3f}, {self.n_links} links>"


def rank_links(
    scores_of: Callable[[IntArray], FloatArray],
    pairs: IntArray,
    n: int,
    known: IntArray | None = None,
    ties: str = "realistic",
) -> LinkReport:
    """Rank the column of every pair (row, column) among all documents but the row's own.

    Parameters
    ----------
    scores_of : callable
        ``scores_of(rows)`` gives the scores of all documents as columns of these rows, len(rows) × n; higher
        is better. It is asked block by block.
    pairs : integer array of shape (L, 2)
        The links to rank.
    n : int
        How many documents there are.
    known : integer array of shape (K, 2), optional
        Other true links, which filtered figures leave out; the ranked ones always count as known.
    ties : str
        "realistic" (the default), "optimistic" or "pessimistic".

    Examples
    --------
    >>> line = np.arange(4.0)
    >>> report = rank_links(lambda rows: -np.abs(line[rows, None] - line), np.array([[0, 1], [0, 3]]), 4)
    >>> report.mean_rank, report.filtered.mean_rank
    (2.0, 1.5)
    """
    if not len(pairs):
        raise DataError("there are no links to rank; give some between documents of the fit.")
    rows, columns = np.asarray(pairs, dtype=np.int64).T
    true = np.asarray(pairs) if known is None else np.vstack([pairs, known])
    index = known_tails(np.insert(true, 1, 0, axis=1), n_relations=1)
    counts = count_ranks(
        lambda asked, _: -_checked(scores_of(asked), asked),
        rows,
        np.zeros_like(rows),
        columns,
        n_entities=n,
        n_relations=1,
        known=index,
        loopless=np.ones(1, dtype=bool),
        title="ranking links",
    )
    begins, ends = index.spans(rows)
    raw_rivals = np.full(len(rows), n - 2)
    return LinkReport(counts, raw_rivals - (ends - begins - 1), raw_rivals, np.asarray(pairs), ties=ties)


def _checked(scores: FloatArray, rows: IntArray) -> FloatArray:
    """Refuse scores that are no numbers."""
    broken = np.isnan(scores).any(axis=1)
    if broken.any():
        raise DataError(
            f"the scores of document {rows[np.flatnonzero(broken)[0]]} are not all numbers; the model is "
            "damaged or its training went astray."
        )
    return scores
