"""Paths that lead nowhere, and what they may have meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from relscape.datasets import load_smoking
from relscape.errors import StorageError
from relscape.maps import Group, Map
from relscape.maps.spelling import meant
from relscape.maps.stored import StoredMap
from relscape.models.registry import load_model
from relscape.models.spectral import CorrespondenceAnalysis
from relscape.plot import save_picture


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Map([Group("a", ["p"], [[1.0]])]).save("maps/dinner")
    (tmp_path / "maps" / "dinners").mkdir()  # alike, but no map
    return tmp_path


@pytest.mark.parametrize("path", ["maps/diner", "map/dinner", "mops/dinnr", "./maps/Dinner"])
@pytest.mark.usefixtures("folder")
def test_a_map_of_another_spelling(path):
    with pytest.raises(OSError, match=r"there is no map at .*\. Did you mean '\S*maps/dinner'\?"):
        Map.load(path)


@pytest.mark.usefixtures("folder")
def test_what_is_unlike_all_there_is():
    assert meant(Path("maps/xyz")) == ""
    Path("digits.csv").touch()
    assert meant(Path("orders.csv")) == ""  # only the ending is alike
    assert meant(Path("elsewhere/dinner")) == " Nor is there a folder 'elsewhere'."
    assert meant(Path("/elsewhere/of/nothing")) == " Nor is there a folder '/elsewhere/of'."


def test_the_home_folder_is_meant_by_its_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    fitted = CorrespondenceAnalysis().fit(load_smoking())
    fitted.to_map().save("~/map")
    fitted.save("~/model")
    assert {p.name for p in tmp_path.iterdir()} == {"map", "model"}
    assert Map.load("~/map").groups == StoredMap("~/map").groups == fitted.to_map().groups
    load_model("~/model")
    Map.load("~/map").export("~/map.csv")
    save_picture(Map.load("~/map"), "~/map.png")
    assert {p.name for p in tmp_path.iterdir()} == {"map", "model", "map.csv", "map.png"}
    with pytest.raises(StorageError, match="no home folder"):
        fitted.to_map().save("~nobody-of-this-name/map")
