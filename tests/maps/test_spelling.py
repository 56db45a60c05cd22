"""Paths that lead nowhere, and what they may have meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from relscape.maps import Group, Map
from relscape.maps.spelling import meant


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
