"""Ranking on a cluster: every worker has the vectors and answers some of the questions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from relscape import progress
from relscape.data.known import Known, query_keys
from relscape.distributed.cluster import current_client
from relscape.distributed.rounds import Rounds, Traffic
from relscape.protocols import BoolArray, IntArray
from relscape.scores.rank_counts import Counts, Scorer, count_ranks, question_blocks

__all__ = ["RankCounter"]

_PIECES = 8  # of the questions, a worker


class RankCounter:
    """Counts for ``KGEmbedding.rank`` on a cluster: ``model.rank("test", count=RankCounter(client))``.

    Ranks are exactly those of one machine: workers score whole blocks of questions as it would, and send back
    counts.

    Parameters
    ----------
    client : dask.distributed.Client, optional
        The cluster; the client made last unless given.
    """

    def __init__(self, client: Any = None) -> None:
        self._rounds = Rounds(current_client(client))

    @property
    def traffic(self) -> Traffic:
        """Give what went between this process and the cluster so far."""
        return self._rounds.traffic

    def __call__(
        self,
        scorer: Scorer,
        entities: IntArray,
        relations: IntArray,
        answers: IntArray,
        *,
        n_entities: int,
        n_relations: int,
        known: Known,
        loopless: BoolArray | None = None,
        title: str = "ranking",
    ) -> Counts:
        """Count for each question the candidates that lie before its answer and level with it."""
        blocks = question_blocks(entities, relations, n_entities)
        count = min(len(blocks), _PIECES * max(1, len(self._rounds.client.nthreads())))
        bounds = np.linspace(0, len(blocks), count + 1).astype(int)
        pieces = [np.concatenate(blocks[a:b]) for a, b in pairwise(bounds)]
        questions = [(entities[piece], relations[piece], answers[piece]) for piece in pieces]
        answered = [_only(known, asked, linked, n_relations) for asked, linked, _ in questions]
        shared = (scorer, n_entities, n_relations, loopless)
        with progress.task(title):
            found = self._rounds.collect(_counted, [questions, answered], shared)
        counts = Counts(*(np.zeros(len(answers), dtype=np.int64) for _ in Counts._fields))
        for piece, part in zip(pieces, found, strict=True):
            for total, values in zip(counts, part, strict=True):
                total[piece] = values
        return counts


def _only(known: Known, entities: IntArray, relations: IntArray, n_relations: int) -> Known:
    """Keep the known answers to some questions."""
    keys = np.unique(query_keys(entities, relations, n_relations))
    begins, ends = known.spans(keys)
    sizes = ends - begins
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    places = np.arange(indptr[-1]) + np.repeat(begins - indptr[:-1], sizes)
    return Known(keys, indptr, known.values[places])


# ---------------------------------------------------------------------- on the workers


def _counted(
    questions: tuple[IntArray, IntArray, IntArray],
    known: Known,
    scorer: Scorer,
    n_entities: int,
    n_relations: int,
    loopless: BoolArray | None,
) -> tuple[IntArray, ...]:
    found = count_ranks(
        scorer, *questions, n_entities=n_entities, n_relations=n_relations, known=known, loopless=loopless
    )
    return tuple(found)
