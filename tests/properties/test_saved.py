"""Saved maps and models, damaged or made with ill will: read right or refused, and nothing else touched."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from tests.campaigns import campaign, only_refusals
from tests.damage import damaged_bytes, damaged_json
from tests.saved import FITTED, ask, fitted, questions
from typer.testing import CliRunner

from relscape.cli.main import app
from relscape.maps import Map
from relscape.maps.state import seal
from relscape.models.registry import METHODS, load_model

MAPPED = ("ca", "cova", "network", "projection")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Give the directory of a saved model of a method, made when first asked for."""
    folder = tmp_path_factory.mktemp("models")

    def made(name: str) -> Path:
        if not (folder / name).exists():
            fitted(name).save(folder / name)
        return folder / name

    return made


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The same of its map."""
    folder = tmp_path_factory.mktemp("maps")

    def made(name: str) -> Path:
        if not (folder / name).exists():
            fitted(name).to_map().save(folder / name)
        return folder / name

    return made


def _copied(source: Path, tmp_path: Path) -> Path:
    target = tmp_path / "copy"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _use_map(target: Path, name: str, away: Path) -> None:
    """Read a map and ask everything of it; what is on the disk must stay as it is.

    One that can be read can be saved, drawn, explored and exported, and told of on the command line.
    """
    before = _contents(target.parent)
    joint = None
    with only_refusals():
        joint = Map.load(target)
    if joint is not None:
        joint.save(away / "map")
        joint.export(away / "map.csv")
        joint.to_html(away / "map.html")
        plt.close(joint.plot())
        assert CliRunner().invoke(app, ["info", str(target)]).exit_code == 0
    with only_refusals():
        joint = Map.load(target)
        for kind in joint.groups:
            assert np.isfinite(joint.coordinates(kind)).all()
            if len(joint.group(kind)):
                joint.neighbors((kind, str(joint.group(kind).ids[0])), k=3)
        questions(name, joint)
    assert _contents(target.parent) == before


@pytest.mark.parametrize("name", FITTED)
def test_models_come_back_and_answer(saved: Any, name: str) -> None:
    ask(load_model(saved(name)), METHODS[name].family)


@pytest.mark.parametrize("name", MAPPED)
def test_maps_come_back_and_answer(maps: Any, name: str) -> None:
    questions(name, Map.load(maps(name)))


@pytest.mark.parametrize("name", FITTED)
@campaign(few=4, many=500, data=st.data())
def test_damaged_models(tmp_path: Path, saved: Any, name: str, data: st.DataObject) -> None:
    target = _copied(saved(name), tmp_path)
    file = target / "model.json"
    if data.draw(st.booleans()):
        file.write_text(data.draw(damaged_json(file.read_text(encoding="utf-8"))), encoding="utf-8")
    else:
        _damage_arrays(target, data)
    with only_refusals():
        ask(load_model(target), METHODS[name].family)


@pytest.mark.parametrize("name", FITTED)
@campaign(few=2, many=300, data=st.data())
def test_forged_models_do_not_end_the_process(
    tmp_path: Path, saved: Any, another_process: Any, name: str, data: st.DataObject
) -> None:
    """Arrays of another shape, type or content, sealed anew: no kernel follows them beyond their ends."""
    target = _copied(saved(name), tmp_path)
    _damage_arrays(target, data)
    header = json.loads((target / "model.json").read_text(encoding="utf-8"))
    header.pop("seal")
    arrays = load_file(target / "model.safetensors")
    (target / "model.json").write_text(json.dumps(header | {"seal": seal(header, arrays)}), encoding="utf-8")
    before = _contents(target.parent)
    another_process(load_and_ask, target, METHODS[name].family)
    assert _contents(target.parent) == before


@pytest.fixture(scope="module")
def another_process() -> Iterator[Callable[..., None]]:
    """Call a function in a process of its own; one that ends by it fails the test."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        yield lambda *call: pool.submit(*call).result()


def load_and_ask(target: Path, family: str) -> None:
    with contextlib.suppress(Exception):
        ask(load_model(target), family)


def _damage_arrays(target: Path, data: st.DataObject) -> None:
    path = target / "model.safetensors"
    arrays = dict(load_file(path))
    chosen = data.draw(st.sampled_from(sorted(arrays)))
    changed = data.draw(damaged_arrays(arrays[chosen]))
    if changed is None:
        del arrays[chosen]
    else:
        arrays[chosen] = np.ascontiguousarray(changed)
    save_file(arrays, path)


@st.composite
def damaged_arrays(draw: Any, array: Any) -> Any:
    """Give an array of another length, shape, type or content; None where it is lost."""
    ways = ["lost", "shorter", "longer", "flat", "turned", "type", "nan", "huge", "negative", "none"]
    kind = draw(st.sampled_from(ways))
    flat = array.ravel().copy()
    at = draw(st.integers(0, max(0, array.size - 1)))
    match kind:
        case "lost":
            return None
        case "shorter" if array.ndim:
            return array[: max(0, len(array) - 1)]
        case "longer" if array.ndim:
            return np.concatenate([array, array[:1]])
        case "flat":
            return flat
        case "turned":
            return array.T
        case "type":
            return np.nan_to_num(array).astype(draw(st.sampled_from(["f4", "i8", "?", "f8"])))
        case "none" if array.ndim:
            return array[:0]
        case "nan" if array.dtype.kind == "f" and array.size:
            flat[at] = draw(st.sampled_from([np.nan, np.inf]))
        case "huge" if array.size:
            flat[at] = {"f": 1e30, "b": True}.get(array.dtype.kind, 100)
        case "negative" if array.size and array.dtype.kind in "if":
            flat[at] = -1 - at
    return flat.reshape(array.shape)


@pytest.mark.parametrize("name", MAPPED)
@campaign(few=8, many=2000, data=st.data())
def test_damaged_map_headers(
    tmp_path: Path, tmp_path_factory: Any, maps: Any, name: str, data: st.DataObject
) -> None:
    target = _copied(maps(name), tmp_path)
    file = target / "map.json"
    file.write_text(data.draw(damaged_json(file.read_text(encoding="utf-8"))), encoding="utf-8")
    _use_map(target, name, tmp_path_factory.mktemp("away"))


@pytest.mark.parametrize("name", MAPPED)
@campaign(few=8, many=2000, data=st.data())
def test_damaged_map_files(
    tmp_path: Path, tmp_path_factory: Any, maps: Any, name: str, data: st.DataObject
) -> None:
    target = _copied(maps(name), tmp_path)
    file = data.draw(st.sampled_from(sorted(p for p in target.rglob("*") if p.is_file())))
    file.write_bytes(data.draw(damaged_bytes(file.read_bytes())))
    _use_map(target, name, tmp_path_factory.mktemp("away"))


def test_no_damaged_footer_ends_the_process(tmp_path: Path, maps: Any, another_process: Any) -> None:
    target = _copied(maps("cova"), tmp_path)
    file = min(target.glob("*.parquet"), key=lambda path: path.stat().st_size)
    another_process(load_with_damaged_footers, target, file)


def load_with_damaged_footers(target: Path, file: Path) -> None:
    whole = file.read_bytes()
    for at in range(len(whole) - 8 - int.from_bytes(whole[-8:-4], "little"), len(whole)):
        for bit in (1, 16):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
            with contextlib.suppress(Exception):
                Map.load(target)


def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path: Path, maps: Any) -> None:
    for name in ("map.json", "doc.parquet", "model/model.json", "model/model.safetensors"):
        target = _copied(maps("ca"), tmp_path)
        (target / name).unlink()
        os.mkfifo(target / name)
        with pytest.raises(OSError, match="is not a file"):
            Map.load(target)


def test_numbers_of_ten_thousand_digits(tmp_path: Path, maps: Any) -> None:
    target = _copied(maps("ca"), tmp_path)
    (target / "map.json").write_text('{"format": ' + "9" * 10_000 + "}")
    with pytest.raises(OSError, match=r"map\.json is not readable"):
        Map.load(target)
