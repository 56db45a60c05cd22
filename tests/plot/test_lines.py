from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from relscape.data import Relation
from relscape.errors import ParameterError, UnknownNameError
from relscape.maps import Group, Map
from relscape.plot import draw_map, lines
from relscape.plot.lines import segments


def network(n: int = 12) -> Map:
    """A ring, a loop, a link both ways; and words that some documents have."""
    rng = np.random.default_rng(1)
    table = np.zeros((n, n))
    for i in range(n):
        table[i, (i + 1) % n] = 1.0
    table[1, 0] = table[3, 3] = 1.0
    words = np.zeros((n, 4))
    words[0, 2] = words[5, 1] = 2.0
    return Map(
        [
            Group("doc", [f"d{i}" for i in range(n)], rng.normal(size=(n, 2))),
            Group("word", list("abcd"), rng.normal(size=(4, 2))),
        ],
        relations=[
            Relation("links", "doc", "doc", csr_array(table)),
            Relation("words", "doc", "word", csr_array(words)),
        ],
    )


def drawn(figure: Figure) -> list[np.ndarray]:
    found = [c for c in figure.axes[0].collections if isinstance(c, LineCollection)]
    return [segment for collection in found for segment in collection.get_segments()]


def foot(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.texts)


def test_segments_join_the_drawn_places_once() -> None:
    map_ = network()
    places = map_.group("doc").drawn
    ends = segments(map_.relations["links"], [map_.group("doc")])
    assert len(ends) == 12
    expected = {frozenset((i, (i + 1) % 12)) for i in range(12)}
    found = {frozenset(int(np.flatnonzero((places == end).all(axis=1))[0]) for end in line) for line in ends}
    assert found == expected
    across = segments(map_.relations["words"], [map_.group("doc"), map_.group("word")])
    assert_array_equal(across[0], [places[0], map_.group("word").drawn[2]])


def test_links_are_drawn_when_asked_for() -> None:
    map_ = network()
    assert drawn(draw_map(map_)) == []
    assert "lines are" not in foot(draw_map(map_))
    figure = draw_map(map_, links=True)
    assert len(drawn(figure)) == 14
    assert "lines are links and words: 14 (15 counting both ways)" in foot(figure)
    assert len(drawn(draw_map(map_, links="words"))) == 2
    assert len(drawn(draw_map(map_, kinds="doc", links=True))) == 12


def test_zeros_and_pairs_with_oneself_are_not_counted() -> None:
    """Zeros that are stored are no pairs; neither they nor loops go the other way of anything."""
    table = csr_array(([1.0, 1.0, 1.0, 1.0, 0.0], ([0, 1, 2, 3, 0], [1, 2, 2, 3, 3])), shape=(4, 4))
    assert table.nnz == 5
    group = Group("doc", list("abcd"), np.random.default_rng(0).normal(size=(4, 2)))
    across = csr_array(([2.0, 0.0], ([0, 1], [0, 1])), shape=(4, 2))
    words = Group("word", list("xy"), np.eye(2))
    map_ = Map(
        [group, words], relations=[Relation("a", "doc", "doc", table), Relation("b", "doc", "word", across)]
    )
    assert len(segments(map_.relations["a"], [map_.group("doc")])) == 2
    figure = draw_map(map_, links=True)
    assert len(drawn(figure)) == 3
    assert "lines are a and b: 3" in foot(figure)
    assert "both ways" not in foot(figure)


def test_lines_lie_below_the_points() -> None:
    axes = draw_map(network(), links=True).axes[0]
    below = [c.get_zorder() for c in axes.collections if isinstance(c, LineCollection)]
    above = [c.get_zorder() for c in axes.collections if not isinstance(c, LineCollection)]
    assert max(below) < min(above)


def test_of_very_many_some_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST", 5)
    figure = draw_map(network(), links="links")
    assert len(drawn(figure)) == 5
    assert "5 of 12" in foot(figure)


def test_what_cannot_be_drawn_is_refused() -> None:
    map_ = network()
    with pytest.raises(UnknownNameError, match="cites"):
        draw_map(map_, links="cites")
    with pytest.raises(ParameterError, match="no relation between the kinds"):
        draw_map(map_, kinds="word", links=True)
    with pytest.raises(ParameterError, match="no relation between the kinds"):
        draw_map(map_.with_relations([]), links=True)
