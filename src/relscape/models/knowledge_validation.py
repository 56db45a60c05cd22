"""Looking at validation triples during training: when, at how many, and which epoch was best."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from relscape.data.triples import SPLITS, KnowledgeGraph
from relscape.errors import ParameterError
from relscape.models.checks import check_integer, shown
from relscape.models.knowledge_scoring import Trained
from relscape.protocols import IntArray
from relscape.scores.ranking import Filter
from relscape.scores.ranking_report import RankingReport

__all__ = ["CRITERIA", "Validation", "Validator", "better", "figures_of"]

Figures = dict[str, float]
CRITERIA: dict[str, Callable[[Mapping[str, float]], tuple[float, float]]] = {
    "mean_rank": lambda found: (-found["mean_rank"], found["hits@10"]),
    "mrr": lambda found: (found["mrr"], found["hits@10"]),
    "hits@10": lambda found: (found["hits@10"], found["mrr"]),
}


@dataclass(frozen=True)
class Validation:
    """When and how training looks at validation triples.

    Parameters
    ----------
    every : int
        Look every so many epochs.
    last : int
        Only within so many last epochs; of these the best one is kept. With ``patience`` all count.
    triples : int or None
        Rank so many validation triples, drawn once; None ranks all.
    patience : int or None
        Stop when so many looks in a row brought nothing better.
    by : str
        "mean_rank" (with hits@10 where two are equal), "mrr" or "hits@10".
    filter : str
        "seen" leaves known answers of train and valid out, so that nothing of the test split leaks into the
        choice; "all" those of test too, as the thesis does.
    """

    every: int = 10
    last: int = 100
    triples: int | None = 2_000
    patience: int | None = None
    by: str = "mean_rank"
    filter: str = "seen"

    def __post_init__(self) -> None:
        for name in ("every", "last"):
            check_integer(f"validate_{name}", getattr(self, name), 1)
        for name, value in (("validate_triples", self.triples), ("patience", self.patience)):
            if value is not None:
                check_integer(name, value, 1)
        if not isinstance(self.by, str) or self.by not in CRITERIA:
            raise ParameterError(f"validate_by={shown(self.by)}: expected one of {', '.join(CRITERIA)}.")
        if not isinstance(self.filter, str) or self.filter not in ("seen", "all"):
            raise ParameterError(f"validate_filter={shown(self.filter)}: expected 'seen' or 'all'.")

    def due(self, epoch: int, n_epochs: int) -> bool:
        """Tell whether to look after this epoch (counted from 1) of so many."""
        if self.patience is not None:
            return epoch % self.every == 0 or epoch == n_epochs
        return epoch > n_epochs - self.last and (n_epochs - epoch) % self.every == 0


class Validator:
    """Ranks the same validation triples again and again; ``None`` figures where there are none to rank."""

    def __init__(self, graph: KnowledgeGraph, rules: Validation, rng: np.random.Generator) -> None:
        if rules.patience is not None and not len(graph.valid):
            raise ParameterError(
                f"patience={rules.patience}: stopping early needs validation triples; the graph has none. "
                "Give it a validation split (KnowledgeGraph.split), or leave patience out."
            )
        self.rules, self.graph = rules, graph
        self.triples: IntArray = graph.valid
        if rules.triples is not None and rules.triples < len(self.triples):
            chosen = rng.choice(len(self.triples), rules.triples, replace=False)
            self.triples = self.triples[np.sort(chosen)]
        splits = SPLITS if rules.filter == "all" else ("train", "valid")
        self.known = Filter.of(graph, splits) if len(self.triples) else None

    def look(self, trained: Trained) -> Figures | None:
        """Rank the validation triples."""
        if self.known is None:
            return None
        return figures_of(trained.rank(self.triples, self.graph, self.known))


def figures_of(report: RankingReport) -> Figures:
    """Keep of a report what epochs and trials are compared by."""
    return {"mean_rank": report.mean_rank, "mrr": report.mrr, "hits@10": report.hits[10]}


def better(new: Mapping[str, Any], old: Mapping[str, Any] | None, by: str) -> bool:
    """Tell whether some figures are better than others; anything is better than none."""
    return old is None or CRITERIA[by](new) > CRITERIA[by](old)
