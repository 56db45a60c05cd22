"""Ten thousand kinds: nothing grows with their square, and legends and bundles stay readable."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from relscape.errors import RelscapeWarning
from relscape.maps import Group, Map
from relscape.models.multi_code import MultiCODE
from relscape.plot import save_picture

KINDS = 10_000


@pytest.fixture(scope="module")
def crowd() -> Map:
    places = np.random.default_rng(0).normal(size=(KINDS, 2))
    return Map([Group(f"kind {i}", [f"thing {i}"], places[[i]]) for i in range(KINDS)])


def test_questions(crowd: Map) -> None:
    assert len(crowd) == len(crowd.groups) == KINDS
    near = crowd.neighbors("kind 7:thing 7", k=3)
    everything = np.concatenate([crowd.coordinates(kind) for kind in crowd.groups])
    away = np.linalg.norm(everything - everything[7], axis=1)
    assert [neighbor.kind for neighbor in near] == [f"kind {i}" for i in np.argsort(away)[1:4]]
    assert crowd.to_frame().num_rows == KINDS


def test_pictures(crowd: Map, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        picture = crowd.plot(labels=10)
        save_picture(picture, tmp_path / "p.svg")
    clouds = [np.asarray(cloud.get_offsets()) for cloud in picture.axes[0].collections]
    assert len(clouds) < 30  # one a marker, and one for the named ones, not one a kind
    assert sum(len(cloud) for cloud in clouds) > 0.9 * KINDS
    assert 0 < (tmp_path / "p.svg").stat().st_size < 5_000_000
    (key,) = picture.legends
    assert key.get_texts()[-1].get_text() == f"and {KINDS - len(key.get_texts()) + 1:,} more kinds"


def test_files_for_other_programs(crowd: Map, tmp_path: Path) -> None:
    for name in ("m.csv", "m.parquet", "m.graphml"):
        crowd.export(tmp_path / name)
        assert (tmp_path / name).stat().st_size > KINDS


def test_pages(crowd: Map, tmp_path: Path) -> None:
    crowd.to_html(tmp_path / "p.html")
    assert (tmp_path / "p.html").stat().st_size < 30_000_000


@pytest.mark.parametrize("kinds", [500, pytest.param(KINDS, marks=pytest.mark.long)])  # a file each
def test_maps_on_disk(crowd: Map, tmp_path: Path, kinds: int) -> None:
    some = Map([crowd.group(kind) for kind in crowd.groups[:kinds]])
    assert Map.load(some.save(tmp_path / "map")).groups == some.groups


@pytest.mark.parametrize("kinds", [300, pytest.param(KINDS, marks=pytest.mark.long)])
def test_a_model_of_many_kinds(kinds: int) -> None:
    rng = np.random.default_rng(0)
    relations = {("hub", f"kind {i}"): rng.poisson(3.0, size=(6, 2)) + 1.0 for i in range(kinds - 1)}
    model = MultiCODE(n_components=2, max_iterations=5, n_restarts=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        model.fit(relations)
    assert len(model.embeddings_) == kinds
    assert all(np.isfinite(places).all() for places in model.embeddings_.values())
