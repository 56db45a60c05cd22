"""Ranks of links against counting by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from relscape.errors import DataError, ParameterError
from relscape.scores.links import rank_links

N = 25


@pytest.fixture
def scores(rng):
    """Few distinct scores, so that there are ties."""
    return rng.integers(0, 8, (N, N)).astype(float)


@pytest.fixture
def pairs(rng):
    links = np.argwhere(rng.random((N, N)) < 0.15)
    return links[links[:, 0] != links[:, 1]]


def by_hand(scores, pairs, known, ties):
    """Sort the candidates of every link."""
    ranks = []
    for i, j in pairs:
        barred = {i} | {b for a, b in known if a == i and b != j}
        rivals = [scores[i, other] for other in range(N) if other not in barred and other != j]
        better = sum(rival > scores[i, j] for rival in rivals)
        level = sum(rival == scores[i, j] for rival in rivals)
        ranks.append(1 + better + {"realistic": level / 2, "optimistic": 0, "pessimistic": level}[ties])
    return np.array(ranks)


@pytest.mark.parametrize("ties", ["realistic", "optimistic", "pessimistic"])
def test_ranks(scores, pairs, ties):
    asked, others = pairs[::2], pairs[1::2]
    report = rank_links(lambda rows: scores[rows], asked, N, others, ties)
    for part, known in ((report, []), (report.filtered, pairs.tolist())):
        expected = by_hand(scores, asked, known, ties)
        assert_allclose(part.ranks, expected)
        assert part.mean_rank == pytest.approx(expected.mean())
        assert part.mrr == pytest.approx((1 / expected).mean())
        assert part.hits == {k: pytest.approx((expected <= k).mean()) for k in (1, 3, 10)}
        assert part.n_links == len(asked)


def test_ranks_are_in_the_order_of_the_pairs(scores, pairs, rng):
    report = rank_links(lambda rows: scores[rows], rng.permutation(pairs), N)
    for pair, rank in zip(report.pairs, report.filtered.pessimistic.ranks, strict=True):
        alone = rank_links(lambda rows: scores[rows], pair[None], N, pairs, "pessimistic")
        assert alone.filtered.ranks == [rank]


def test_without_others_only_ranked_links_are_known(scores, pairs):
    report = rank_links(lambda rows: scores[rows], pairs, N)
    assert_allclose(report.filtered.ranks, by_hand(scores, pairs, pairs.tolist(), "realistic"))


def test_auc_is_that_of_every_document(scores, pairs):
    """Filtered, a link competes with pairs that are no links: the mean ROC area, weighted by links."""
    report = rank_links(lambda rows: scores[rows], pairs, N)
    areas = []
    for i in np.unique(pairs[:, 0]):
        true = np.isin(np.arange(N), pairs[pairs[:, 0] == i, 1])
        others = np.arange(N) != i
        areas += [roc_auc_score(true[others], scores[i][others])] * true.sum()
    assert report.filtered.auc == pytest.approx(np.mean(areas))
    assert 0 < report.auc < 1


def test_ties_are_ordered(scores, pairs):
    report = rank_links(lambda rows: scores[rows], pairs, N)
    assert report.optimistic.mean_rank <= report.mean_rank <= report.pessimistic.mean_rank
    both = (report.optimistic.mean_rank + report.pessimistic.mean_rank) / 2
    assert report.mean_rank == pytest.approx(both)


def test_perfect_and_worst():
    pairs = np.array([[0, 1], [0, 2], [3, 1]])
    table = np.zeros((5, 5))
    table[tuple(pairs.T)] = 1.0
    best = rank_links(lambda rows: table[rows], pairs, 5).filtered
    assert (best.mean_rank, best.mrr, best.auc, best.hits[1]) == (1.0, 1.0, 1.0, 1.0)
    assert rank_links(lambda rows: -table[rows], pairs, 5).filtered.auc == 0.0


def test_a_link_without_rivals_has_no_auc():
    all_of_two = np.array([[0, 1], [0, 2]])
    report = rank_links(lambda rows: np.zeros((len(rows), 3)), all_of_two, 3)
    assert np.isnan(report.filtered.auc)
    assert report.filtered.mean_rank == 1.0


def test_telling(scores, pairs):
    report = rank_links(lambda rows: scores[rows], pairs, N)
    told = report.to_dict()
    assert told["mean_rank"] == report.mean_rank
    assert told["filtered"]["auc"] == report.filtered.auc
    assert told["ties"] == "realistic"
    assert [row[0] for row in report.rows()] == ["raw", "filtered"]
    assert "mean rank" in str(report)
    for told_of in (report, report.filtered, report.pessimistic):
        assert str(told_of).endswith(f"ties: {told_of.ties}")
    assert f"{len(pairs)} links" in repr(report)


def test_what_cannot_be_ranked(scores, pairs):
    with pytest.raises(DataError, match="no links to rank"):
        rank_links(lambda rows: scores[rows], pairs[:0], N)
    with pytest.raises(ParameterError, match="ties='average'"):
        rank_links(lambda rows: scores[rows], pairs, N, ties="average")
    scores[int(pairs[0, 0]), 3] = np.nan
    with pytest.raises(DataError, match=f"scores of document {pairs[0, 0]}"):
        rank_links(lambda rows: scores[rows], pairs, N)
