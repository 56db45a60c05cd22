"""Pictures of the experiments on CODE: details of maps, words of groups, the path of PSD-CODE."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from scipy.sparse import csr_array

from relscape.project.code_maps import Layer, detailed_maps, window
from relscape.project.code_pictures import path_picture, representative_words, word_maps
from relscape.project.fitting import Placement
from relscape.project.samples import Documents


def layer(points, names, **options):
    points = np.asarray(points, dtype=float)
    return Layer(
        points,
        np.array(names, dtype=object),
        np.arange(len(points), dtype=float),
        np.full(len(points), "#000000", dtype=object),
        **options,
    )


def texts(panel):
    return {text.get_text() for text in panel.texts}


def test_a_window_is_a_square_with_room_around_its_words():
    low, high = window(np.array([[0.0, 1.0], [4.0, 2.0], [1.0, 1.5]]))
    assert (high - low).tolist() == [5.0, 5.0]
    assert ((low + high) / 2).tolist() == [2.0, 1.5]


def test_a_detail_names_what_is_in_it_and_the_whole_shows_where_it_is():
    words = layer([[0, 0], [5, 5], [5.3, 5.4], [9, 0]], ["and", "cat", "eye", "mdp"], whole=False)
    people = layer([[5.5, 4.6], [1, 8]], ["REID S", "KAHN P"], marker="s")
    corners = np.array([[4.0, 4.0], [6.0, 6.0]])
    figure = detailed_maps("A map", (words, people), {"vision": corners}, {"author": ("#000000", "s")})
    whole, detail = (panel for panel in figure.axes if panel.get_visible())
    assert texts(detail) == {"cat", "eye", "REID S"}
    assert detail.get_xlim() == detail.get_ylim() == (4.0, 6.0)
    (square,) = [patch for patch in whole.patches if isinstance(patch, Rectangle)]
    assert (square.get_xy(), square.get_width()) == ((4.0, 4.0), 2.0)
    assert texts(whole) == {"b"}
    assert len(whole.collections) == 1  # words are in the details only


def test_a_detail_without_anything_is_drawn():
    people = layer([[0, 0], [1, 1]], ["REID S", "KAHN P"])
    far = np.array([[4.0, 4.0], [6.0, 6.0]])
    figure = detailed_maps("A map", (people,), {"here": far, "there": far}, {"author": ("#000000", "o")})
    assert [len(panel.texts) for panel in figure.axes if panel.get_visible()] == [2, 0, 0]


@pytest.fixture
def text():
    return Documents(
        csr_array(np.ones((6, 4))),
        np.array(list("aaabbb"), dtype=object),
        np.array(["left", "right", "hub", "far"], dtype=object),
    )


def test_words_are_in_the_middle_of_their_group(text):
    rows = np.array([[-2, 0], [-1, 0], [-1, 1], [2, 0], [1, 0], [30, 0]], dtype=float)
    columns = np.array([[-1, 0], [2, 0.1], [0, 0], [11, 0]], dtype=float)
    found = representative_words(text, Placement("CM", 0, 0, rows, columns), 1, arc=False)
    assert {group: text.words[at].tolist() for group, at in found.items()} == {"a": ["left"], "b": ["right"]}


def test_on_a_circle_the_middle_is_that_of_the_arc(text):
    angles = np.array([2.0, np.pi, 4.28, -1.1, 0.0, 1.1])
    rows = np.column_stack([np.cos(angles), np.sin(angles)])
    columns = np.array([[-1, 0], [1, 0], [-0.42, 0], [0.45, 0]])
    both = Placement("MM", 0, 0, rows, columns)
    on_arc = representative_words(text, both, 1, arc=True)
    assert [text.words[at].item() for at in on_arc.values()] == ["left", "right"]
    inside = representative_words(text, both, 1, arc=False)
    assert [text.words[at].item() for at in inside.values()] == ["hub", "far"]


def test_words_are_named_on_the_maps(text):
    rows = np.array([[-2, 0], [-1, -2], [-1, 2], [2, 0], [1, -2], [1, 2]], dtype=float)
    both = Placement("CM", 0, 0, rows, np.array([[-1, 0], [1, 0], [0, 0], [0, 1]], dtype=float))
    figure = word_maps(text, {"CM": (both, {"a": np.array([0]), "b": np.array([1])})})
    (panel,) = figure.axes
    assert texts(panel) == {"left", "right"}
    assert [entry.get_text() for entry in figure.legends[0].get_texts()] == ["a", "b"]


def test_the_path_marks_its_likeliest_weight():
    stations = [
        {"λ": 1.0, "likelihood": -4.0, "eigenvalues": [0.5]},
        {"λ": 0.1, "likelihood": -2.0, "eigenvalues": [1.0, 0.4]},
        {"λ": 0.01, "likelihood": -2.5, "eigenvalues": [1.1, 0.5, 1e-9]},
    ]
    above, below = path_picture(stations, best=-1.9).axes[:2]
    curves = {line.get_label(): line.get_ydata() for line in below.get_lines()}
    assert list(curves["eigenvalue 2"]) == [0.0, 0.4, 0.5]
    assert "eigenvalue 3" not in curves  # it is nothing but rounding
    assert 0.1 in [line.get_xdata()[0] for line in above.get_lines() if len(line.get_xdata()) == 2]
