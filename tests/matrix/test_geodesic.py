"""Steps between linked things, against a search thing by thing."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from scipy.sparse import csr_array

from relscape.errors import DataError, ParameterError
from relscape.matrix import geodesic
from relscape.matrix.geodesic import hop_distances, largest_component, link_relation


def slow_distances(links, source):
    """Walk outward one thing at a time."""
    linked = (links != 0) | (links.T != 0)
    steps = {source: 0}
    queue = deque([source])
    while queue:
        at = queue.popleft()
        for other in np.flatnonzero(linked[at]):
            if int(other) not in steps:
                steps[int(other)] = steps[at] + 1
                queue.append(int(other))
    return [steps.get(thing, np.inf) for thing in range(len(links))]


def random_links(rng, size, share=0.06):
    return np.where(rng.uniform(size=(size, size)) < share, rng.standard_normal((size, size)), 0.0)


@pytest.mark.parametrize("share", [0.01, 0.03, 0.1])
def test_steps_are_those_of_a_slow_search(rng, share):
    links = random_links(rng, 40, share)
    rows, columns = np.array([3, 0, 17, 39]), np.array([1, 3, 22, 38, 5])
    expected = [[slow_distances(links, row)[column] for column in columns] for row in rows]
    np.testing.assert_array_equal(hop_distances(csr_array(links), rows, columns), expected)


def test_blocks_do_not_change_anything(rng, monkeypatch):
    links = csr_array(random_links(rng, 30))
    rows, columns = np.arange(0, 30, 2), np.arange(1, 30, 2)
    whole = hop_distances(links, rows, columns)
    monkeypatch.setattr(geodesic, "BLOCK", 4)
    np.testing.assert_array_equal(hop_distances(links, rows, columns), whole)


def test_stored_zeros_are_no_links():
    links = csr_array((np.array([1.0, 0.0]), (np.array([0, 1]), np.array([1, 2]))), shape=(3, 3))
    assert hop_distances(links, np.array([0]), np.array([1, 2])).tolist() == [[1.0, np.inf]]


def test_largest_component(rng):
    links = np.zeros((9, 9))
    for one, other in [(0, 4), (4, 7), (7, 2), (1, 3), (3, 5)]:
        links[one, other] = 1
    assert largest_component(csr_array(links)).tolist() == [0, 2, 4, 7]


def test_relation_of_the_largest_component(rng):
    links = random_links(rng, 60)
    links[50:], links[:, 50:] = 0, 0
    classes = np.array(["a", "b", "c"], dtype=object)[rng.integers(0, 3, 60)]
    made = link_relation(csr_array(links), classes, 0.4, random_state=0)
    reachable = [thing for thing in range(60) if np.isfinite(slow_distances(links, made.rows[0])[thing])]
    assert sorted([*made.rows, *made.columns]) == reachable
    for name in "abc":
        members = sum(classes[thing] == name for thing in reachable)
        assert (classes[made.rows] == name).sum() == round(0.4 * members)
    steps = np.array([[slow_distances(links, row)[column] for column in made.columns] for row in made.rows])
    np.testing.assert_allclose(made.matrix, np.exp(-steps / steps.mean()), rtol=1e-12)


def test_seed_decides(rng):
    links, classes = csr_array(random_links(rng, 50)), ["x"] * 50
    first, again, other = (link_relation(links, classes, 0.4, seed) for seed in (1, 1, 2))
    assert first.rows.tolist() == again.rows.tolist() != other.rows.tolist()


def test_mistakes_are_named(rng):
    links = csr_array(random_links(rng, 10, 0.5))
    with pytest.raises(ParameterError, match="row_share=1"):
        link_relation(links, ["a"] * 10, 1)
    with pytest.raises(DataError, match="3 classes for 10"):
        link_relation(links, ["a"] * 3)
    with pytest.raises(DataError, match="square"):
        hop_distances(csr_array(np.ones((2, 3))), np.array([0]), np.array([1]))
    with pytest.raises(DataError, match="classes too small"):
        link_relation(links, [str(number) for number in range(10)], 0.4)


def test_cora_has_the_known_component(data_dir):
    from relscape.datasets import load_cora

    data = load_cora()
    made = link_relation(data.matrix("links"), data.entities["doc"].fields["class"], 0.4, 0)
    assert len(made.rows) + len(made.columns) == 2485  # the published size of its largest component
    assert np.isfinite(made.matrix).all()
