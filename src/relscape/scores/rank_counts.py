"""Counting how many candidates beat the true answer of a question, block by block."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numba import njit, prange

from relscape import progress
from relscape.data.known import Known, query_keys
from relscape.errors import DataError
from relscape.protocols import BoolArray, FloatArray, IntArray

__all__ = ["BLOCK_BYTES", "Counter", "Counts", "Scorer", "count_ranks", "question_blocks"]

Scorer: TypeAlias = Callable[[IntArray, IntArray], FloatArray]
"""``scorer(entities, relations)`` gives the energies of all candidates, one row a question; low is true."""

BLOCK_BYTES = 50_000_000  # of energies at a time, in double precision


class Counts(NamedTuple):
    """What every question's true answer is up against, one number a question.

    ``better`` counts the candidates with a lower energy, ``level`` those with the same energy besides the
    answer itself; among all entities, and with the other known answers left out.
    """

    raw_better: IntArray
    raw_level: IntArray
    better: IntArray
    level: IntArray


class Counter(Protocol):
    """What counts like :func:`count_ranks`, whose parameters it has."""

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
        ...


def count_ranks(
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
    """Count for each question the candidates that lie before its answer and level with it.

    Questions that repeat are scored once. They are asked relation by relation, in blocks of bounded size,
    and the energy of the answer is taken from the same row as that of the others, so that ties are exact.

    Parameters
    ----------
    scorer : callable
        ``scorer(entities, relations)`` gives a Q × n_entities array of energies.
    entities, relations, answers : integer arrays of length n
        The questions (entity, relation, ?), and the true answer of each.
    n_entities, n_relations : int
        How many there are.
    known : Known
        Known answers of every question; all but the true one are left out of the filtered counts.
    loopless : bool array of length n_relations, optional
        Relations that never join an entity with itself: the question's own entity is no candidate there.
    title : str
        What progress is announced as.
    """
    order, asked, spans = _distinct_questions(entities, relations, n_entities)
    keys = query_keys(entities[asked], relations[asked], n_relations)
    begins, ends = known.spans(keys)
    barred = np.full(asked.size, -1, dtype=np.int64)
    if loopless is not None:
        barred = np.where(loopless[relations[asked]], entities[asked], -1)
    counts = Counts(*(np.zeros(len(answers), dtype=np.int64) for _ in Counts._fields))
    height = _height(n_entities)
    with progress.task(title, asked.size) as task:
        for start in range(0, asked.size, height):
            stop = min(start + height, asked.size)
            rows = asked[start:stop]
            energies = scorer(entities[rows], relations[rows])
            bad = _count_block(
                np.ascontiguousarray(energies), start, spans, order, answers, barred,
                begins, ends, known.values, counts,
            )  # fmt: skip
            if bad.any():
                row = int(rows[np.flatnonzero(bad)[0]])
                raise DataError(
                    f"the energies of the question about entity {entities[row]} and relation "
                    f"{relations[row]} are not all numbers; the model is damaged or its training went astray."
                )
            task.advance(stop - start)
    return counts


def question_blocks(entities: IntArray, relations: IntArray, n_entities: int) -> list[IntArray]:
    """Give the questions of each block that :func:`count_ranks` scores at a time.

    Some of these in a row, counted on their own, are scored in the same blocks, and so to the same bits.
    """
    order, asked, spans = _distinct_questions(entities, relations, n_entities)
    height = _height(n_entities)
    bounds = spans[[*range(0, asked.size, height), asked.size]]
    return [order[start:stop] for start, stop in pairwise(bounds)]


def _height(n_entities: int) -> int:
    """Give the number of questions in a block."""
    return max(1, BLOCK_BYTES // (8 * max(n_entities, 1)))


def _distinct_questions(
    entities: IntArray, relations: IntArray, n_entities: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Sort questions by relation, then entity.

    Gives the order, the place of one question of each kind, and where in the order each kind begins and ends.
    """
    keys = relations.astype(np.int64) * n_entities + entities
    order = np.argsort(keys, kind="stable")
    first = np.ones(order.size, dtype=bool)
    first[1:] = keys[order][1:] != keys[order][:-1]
    begins = np.flatnonzero(first)
    return order, order[begins], np.append(begins, order.size)


@njit(cache=True, nogil=True, parallel=True)  # type: ignore[untyped-decorator]
def _count_block(
    energies: Any,
    start: int,
    spans: Any,
    order: Any,
    answers: Any,
    barred: Any,
    begins: Any,
    ends: Any,
    known: Any,
    counts: Any,
) -> Any:
    """Count for the questions of one block; tell of every question whether an energy is no number."""
    raw_better, raw_level, better, level = counts
    n = energies.shape[1]
    bad = np.zeros(energies.shape[0], dtype=np.bool_)
    for q in prange(energies.shape[0]):
        at = start + q
        numbers = 0
        for j in range(n):
            numbers += energies[q, j] == energies[q, j]
        bad[q] = numbers < n
        own = barred[at]
        for place in range(spans[at], spans[at + 1]):
            i = order[place]
            answer = answers[i]
            energy = energies[q, answer]
            below, same = 0, 0
            for j in range(n):
                below += energies[q, j] < energy
                same += energies[q, j] == energy
            same -= 1
            if own >= 0 and own != answer:
                below -= energies[q, own] < energy
                same -= energies[q, own] == energy
            raw_better[i], raw_level[i] = below, same
            for m in range(begins[at], ends[at]):
                other = known[m]
                if other != answer and other != own:
                    below -= energies[q, other] < energy
                    same -= energies[q, other] == energy
            better[i], level[i] = below, same
    return bad
