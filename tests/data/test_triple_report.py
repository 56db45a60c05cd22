from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from relscape import datasets
from relscape.data.redundancy import relation_overlaps
from relscape.data.triple_report import inspect
from relscape.data.triple_statistics import count_relations, partition, relation_categories
from relscape.data.triples import KnowledgeGraph


@pytest.fixture
def triples(rng: np.random.Generator) -> np.ndarray:
    """Random triples of 12 entities and 5 relations, some relations sparse and one empty."""
    relations = rng.choice(4, size=160, p=[0.5, 0.3, 0.15, 0.05])
    ends = rng.integers(12, size=(160, 2))
    return np.unique(np.column_stack([ends[:, 0], relations, ends[:, 1]]), axis=0)


def slow_counts(triples: np.ndarray, relation: int) -> tuple[int, int, int]:
    own = {tuple(row) for row in triples.tolist() if row[1] == relation}
    return len(own), len({h for h, _, _ in own}), len({t for _, _, t in own})


def test_counts_are_those_of_sets(triples: np.ndarray) -> None:
    counts = count_relations(np.vstack([triples, triples[:7]]), 12, 5)
    for relation in range(5):
        expected = slow_counts(triples, relation)
        assert (counts.triples[relation], counts.heads[relation], counts.tails[relation]) == expected
    assert np.isnan(counts.tails_per_head[4])
    answers = defaultdict(set)
    for h, r, t in triples.tolist():
        answers[h, r].add(t)
    mean = np.mean([len(tails) for (_, r), tails in answers.items() if r == 0])
    assert counts.tails_per_head[0] == pytest.approx(mean)


def test_categories_and_their_orientation() -> None:
    one_to_many = [(0, 0, t) for t in range(1, 6)]
    many_to_one = [(h, 1, 0) for h in range(1, 6)]
    many_to_many = [(h, 2, t) for h in range(3) for t in range(3, 6)]
    one_to_one = [(h, 3, h + 3) for h in range(3)]
    exactly_one_and_a_half = [(0, 4, 1), (0, 4, 2), (1, 4, 2)]  # tph = hpt = 3/2 still counts as one
    single = [(2, 5, 2)]
    rows = one_to_many + many_to_one + many_to_many + one_to_one + exactly_one_and_a_half + single
    categories = relation_categories(count_relations(np.array(rows), 6, 6))
    assert categories.tolist() == ["1-N", "N-1", "N-N", "1-1", "1-1", "1-1"]


def test_partition_is_that_of_a_loop(triples: np.ndarray, rng: np.random.Generator) -> None:
    rng.shuffle(triples)
    test, train = triples[:50], triples[50:]
    known = {tuple(row) for row in train.tolist()}
    expected = []
    for h, r, t in test.tolist():
        if (t, r, h) in known:
            expected.append("reciprocal")
        elif any((t, other, h) in known for other in range(5)):
            expected.append("reverse")
        else:
            expected.append("other")
    assert set(expected) == {"reciprocal", "reverse", "other"}
    assert partition(test, train, 12, 5).tolist() == expected
    assert partition(test, train[:0], 12, 5).tolist() == ["other"] * 50


def test_overlaps_are_those_of_sets(triples: np.ndarray) -> None:
    names = np.array([*"abcde"], dtype=object)
    pairs = [{(h, t) for h, r, t in triples.tolist() if r == k} for k in range(5)]
    expected = set()
    for i in range(5):
        for j in range(i + 1, 5):
            for inverse in (False, True):
                other = {(t, h) for h, t in pairs[j]} if inverse else pairs[j]
                common = len(pairs[i] & other)
                if common and min(common / len(pairs[i]), common / len(pairs[j])) > 0.1:
                    expected.add((names[i], names[j], inverse, common))
    found = relation_overlaps(triples, 12, names, 0.1)
    assert expected
    assert {(o.first, o.second, o.inverse, o.common) for o in found} == expected
    smaller = [min(o.first_share, o.second_share) for o in found]
    assert smaller == sorted(smaller, reverse=True)


@pytest.mark.filterwarnings("ignore:.*in both train and test", "ignore:.*not occur")
def test_report_of_a_small_graph() -> None:
    train = [
        ("a", "likes", "b"),
        ("b", "likes", "a"),
        ("a", "liked by", "b"),
        ("a", "likes", "a"),
        ("b", "is", "c"),
    ]
    test = [("a", "likes", "b"), ("c", "of", "b"), ("c", "likes", "d")]
    report = inspect(KnowledgeGraph(train, test=test, entities=[*"abcde"], entity_labels=[*"ABCDE"]))
    assert report.n_triples == {"train": 5, "valid": 0, "test": 3}
    assert report.category_relations == {"1-1": 4, "1-N": 0, "N-1": 0, "N-N": 0}
    assert report.category_triples == {"1-1": 3, "1-N": 0, "N-1": 0, "N-N": 0}
    assert report.partition == {"reciprocal": 1, "reverse": 1, "other": 1}
    assert report.shared == {"train and valid": 0, "train and test": 1, "valid and test": 0}
    assert report.unseen == {"entities": 1, "relations": 1}
    assert report.self_loops == {"train": 1, "valid": 0, "test": 0}
    assert report.single_triple_relations == ("is", "liked by", "of")
    assert [(o.first, o.second, o.inverse) for o in report.overlaps] == [("is", "of", True)]
    likes = next(r for r in report.relations if r.name == "likes")
    assert (likes.triples, likes.heads, likes.tails) == (4, 3, 3)
    assert likes.reversed_share == pytest.approx(2 / 3)  # of a-b, b-a and c-d; the loop is left out
    assert (report.degrees.largest, report.degrees.largest_entity) == (6, "A")
    assert (report.degrees.once, report.degrees.never) == (1, 1)
    assert json.loads(json.dumps(report.to_dict()))["n_entities"] == 5
    text = str(report)
    assert "test, known reversed" in text
    assert "reciprocal 1 (33.3%)" in text
    assert "test by category" not in str(inspect(KnowledgeGraph(train)))


def test_counts_published_for_fb15k_come_out_exactly(data_dir: Path) -> None:
    report = inspect(datasets.load_fb15k())
    assert report.category_relations == {"1-1": 353, "1-N": 305, "N-1": 380, "N-N": 307}
    assert report.category_triples == {"1-1": 846, "1-N": 5275, "N-1": 8641, "N-N": 44_309}
    assert report.partition == {"reciprocal": 4336, "reverse": 41_481, "other": 13_254}
    assert report.self_loops["test"] == 222
    assert set(report.shared.values()) == {0}
    assert report.unseen == {"entities": 0, "relations": 0}
    assert any(overlap.inverse and overlap.first_share == 1.0 for overlap in report.overlaps)


def test_wn18_has_seven_pairs_of_inverse_relations(data_dir: Path) -> None:
    report = inspect(datasets.load_wn18())
    assert len(report.overlaps) == 7
    assert ("_hypernym", "_hyponym", True) in {(o.first, o.second, o.inverse) for o in report.overlaps}
    symmetric = {r.name for r in report.relations if r.reversed_share > 0.99}
    assert "_derivationally_related_form" in symmetric
