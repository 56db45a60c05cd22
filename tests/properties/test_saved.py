"""Saved maps and models, damaged or made with ill will: read right or refused, and nothing else touched."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from tests.campaigns import campaign, only_refusals
from tests.damage import damaged_bytes, damaged_json
from tests.saved import FITTED, fitted, questions

from relscape.maps import Map

FILES = ("map.json", "model/model.json", "model/model.safetensors")


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Give the directory of a saved map of a method, made when first asked for."""
    folder = tmp_path_factory.mktemp("maps")

    def made(name: str) -> Path:
        if not (folder / name).exists():
            fitted(name).to_map().save(folder / name)
        return folder / name

    return made


def _copied(source: Path, tmp_path: Path) -> Path:
    target = tmp_path / "map"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target


def _state_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _use(target: Path, name: str) -> None:
    """Read a map and ask everything of it; what is on the disk must stay as it is."""
    before = _state_of(target.parent)
    with only_refusals():
        joint = Map.load(target)
        for kind in joint.groups:
            assert np.isfinite(joint.coordinates(kind)).all()
            if len(joint.group(kind)):
                joint.neighbors((kind, str(joint.group(kind).ids[0])), k=3)
        questions(name, joint)
    assert _state_of(target.parent) == before


@pytest.mark.parametrize("name", FITTED)
def test_maps_themselves_are_read_and_asked(tmp_path: Path, maps: Any, name: str) -> None:
    questions(name, Map.load(maps(name)))


@pytest.mark.parametrize("name", FITTED)
@campaign(few=6, many=700, data=st.data())
def test_damaged_headers(tmp_path: Path, maps: Any, name: str, data: st.DataObject) -> None:
    target = _copied(maps(name), tmp_path)
    file = target / data.draw(st.sampled_from(["map.json", "model/model.json"]))
    file.write_text(data.draw(damaged_json(file.read_text(encoding="utf-8"))), encoding="utf-8")
    _use(target, name)


@pytest.mark.parametrize("name", FITTED)
@campaign(few=6, many=700, data=st.data())
def test_damaged_arrays(tmp_path: Path, maps: Any, name: str, data: st.DataObject) -> None:
    """Arrays of another shape, type or content than a model has: nothing is read beyond their ends."""
    target = _copied(maps(name), tmp_path)
    path = target / "model" / "model.safetensors"
    arrays = dict(load_file(path))
    chosen = data.draw(st.sampled_from(sorted(arrays)))
    changed = data.draw(damaged_arrays(arrays[chosen]))
    if changed is None:
        del arrays[chosen]
    else:
        arrays[chosen] = np.ascontiguousarray(changed)
    save_file(arrays, path)
    _use(target, name)


@st.composite
def damaged_arrays(draw: Any, array: Any) -> Any:
    kind = draw(
        st.sampled_from(
            ["lost", "shorter", "longer", "flat", "turned", "type", "nan", "huge", "negative", "none"]
        )
    )
    flat = array.ravel().copy()
    at = draw(st.integers(0, max(0, array.size - 1)))
    match kind:
        case "lost":
            return None
        case "shorter":
            return array[: max(0, len(array) - 1)] if array.ndim else array
        case "longer":
            return np.concatenate([array, array[:1]]) if array.ndim else array
        case "flat":
            return flat
        case "turned":
            return array.T
        case "type":
            return (
                array.astype(draw(st.sampled_from(["f4", "i8", "u1", "?", "f8"])), casting="unsafe")
                if array.dtype.kind != "f" or np.isfinite(array).all()
                else array
            )
        case "none":
            return array[:0] if array.ndim else array
        case "nan" if array.dtype.kind == "f" and array.size:
            flat[at] = draw(st.sampled_from([np.nan, np.inf]))
        case "huge" if array.size:
            flat[at] = (
                1e30
                if array.dtype.kind == "f"
                else np.iinfo(array.dtype).max
                if array.dtype.kind in "iu"
                else 1
            )
        case "negative" if array.size and array.dtype.kind in "if":
            flat[at] = -1 - at
    return flat.reshape(array.shape)


@pytest.mark.parametrize("name", ["ca", "cova"])
@campaign(few=10, many=2000, data=st.data())
def test_damaged_files(tmp_path: Path, maps: Any, name: str, data: st.DataObject) -> None:
    target = _copied(maps(name), tmp_path)
    file = data.draw(st.sampled_from(sorted(p for p in target.rglob("*") if p.is_file())))
    file.write_bytes(data.draw(damaged_bytes(file.read_bytes())))
    _use(target, name)
