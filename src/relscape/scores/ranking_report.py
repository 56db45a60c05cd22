"""RankingReport: mean rank, reciprocal rank and hits, for all triples and every kind of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from relscape.errors import ParameterError
from relscape.protocols import FloatArray, IntArray, TextArray
from relscape.scores.rank_counts import Counts
from relscape.scores.rank_figures import HITS, RankFigures, ranks_of, table_text

__all__ = ["RankingReport"]


@dataclass(frozen=True, eq=False)
class RankingReport(RankFigures):
    """How high a model ranks true answers. Figures are of both sides together, filtered, unless narrowed.

    ``heads`` and ``tails`` are the same report for questions about one side, ``raw`` for ranks among all
    entities, ``optimistic`` and ``pessimistic`` for ties that all go in favour of the answer or against it
    (otherwise half of them do, the mean over random orders). ``by_category``, ``by_partition`` and
    ``by_relation`` hold reports by name. All can be combined: ``report.by_category["1-N"].heads.hits[10]``.

    Parameters
    ----------
    counts : mapping of str to Counts
        What the answers to the questions about "heads" and "tails" were up against, one a triple.
    classes : mapping of str to array
        For "category", "partition" and "relation" the name of the class of every triple.
    filtered : bool
        Whether other known answers are left out.
    ties : str
        "realistic", "optimistic" or "pessimistic".
    """

    counts: Mapping[str, Counts]
    classes: Mapping[str, TextArray]
    filtered: bool = True

    # ------------------------------------------------------------------ figures

    @cached_property
    def ranks(self) -> FloatArray:
        """Every rank: first those of all heads, then those of all tails."""
        sides = self.counts.values()
        return np.concatenate([ranks_of(side, self.filtered, self.ties) for side in sides])

    @property
    def n_triples(self) -> int:
        """How many triples were ranked."""
        return len(next(iter(self.counts.values())).better)

    # ------------------------------------------------------------------ narrower reports

    @property
    def raw(self) -> RankingReport:
        """The same among all entities, other known answers included."""
        return replace(self, filtered=False)

    @property
    def heads(self) -> RankingReport:
        """The same for questions about heads only."""
        return self._side("heads")

    @property
    def tails(self) -> RankingReport:
        """The same for questions about tails only."""
        return self._side("tails")

    def _side(self, side: str) -> RankingReport:
        if side not in self.counts:
            raise ParameterError(f"this report is about {', '.join(self.counts)} only; it has no {side}.")
        return replace(self, counts={side: self.counts[side]})

    @cached_property
    def by_category(self) -> dict[str, RankingReport]:
        """By the category of the relation: 1-1, 1-N, N-1, N-N."""
        return self._split("category")

    @cached_property
    def by_partition(self) -> dict[str, RankingReport]:
        """By what training knows in the opposite direction: reciprocal, reverse, other."""
        return self._split("partition")

    @cached_property
    def by_relation(self) -> dict[str, RankingReport]:
        """By the relation's name."""
        return self._split("relation")

    def _split(self, kind: str) -> dict[str, RankingReport]:
        names, codes = np.unique(self.classes[kind].astype(str), return_inverse=True)
        order = np.argsort(codes, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(codes, minlength=names.size))[:-1])
        return {str(name): self._chosen(places) for name, places in zip(names, parts, strict=True)}

    def _chosen(self, places: IntArray) -> RankingReport:
        counts = {side: Counts(*(part[places] for part in found)) for side, found in self.counts.items()}
        classes = {kind: names[places] for kind, names in self.classes.items()}
        return replace(self, counts=counts, classes=classes)

    # ------------------------------------------------------------------ telling

    def figures(self) -> dict[str, Any]:
        """Give mean rank, MRR, hits and the number of triples as plain values."""
        return super().figures() | {"n_triples": self.n_triples}

    def to_dict(self) -> dict[str, Any]:
        """Give all figures as plain values: filtered and raw, by side, category, partition and relation."""
        told = self.figures() | {"raw": self.raw.figures(), "ties": self.ties}
        told |= {side: self._side(side).figures() for side in self.counts}
        for kind in ("category", "partition", "relation"):
            told[f"by_{kind}"] = {name: part.figures() for name, part in self._split(kind).items()}
        return told

    def rows(self) -> list[tuple[str, ...]]:
        """Give the lines of a table: what, triples, mean rank, MRR, hits@1, @3 and @10."""
        parts = {"filtered" if self.filtered else "raw": self}
        if self.filtered:
            parts["raw"] = self.raw
        parts |= {f"only {side}": self._side(side) for side in self.counts if len(self.counts) > 1}
        return [part.row(name) for name, part in (parts | self.by_category | self.by_partition).items()]

    def row(self, name: str) -> tuple[str, ...]:
        """Give one line of such a table."""
        shares = (f"{share:.1%}" for share in self.hits.values())
        return name, f"{self.n_triples:,}", f"{self.mean_rank:,.1f}", f"{self.mrr:.3f}", *shares

    def __str__(self) -> str:
        header = ("", "triples", "mean rank", "MRR", *(f"hits@{most}" for most in HITS))
        return table_text(header, self.rows())

    def __repr__(self) -> str:
        return (
            f"<RankingReport: mean rank {self.mean_rank:.4g}, MRR {self.mrr:.3f}, {self.n_triples} triples>"
        )
