"""Two processes and one map: they write one after the other, and a reader sees one result or the other."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path

import numpy as np
import pytest

from relscape.maps import Group, Map, files
from relscape.maps.files import replace_directory
from relscape.models.knowledge_state import training_in

TURNS = 12


def _map(points: int) -> Map:
    ids = [f"p{i}" for i in range(points)]
    return Map([Group("a", ids, np.full((points, 2), float(points)))], arrays={"n": np.full(points, points)})


def _write(path: Path, points: int) -> None:
    for _ in range(TURNS):
        _map(points).save(path)


def _hold(path: Path, inside: Path, leave: Path) -> None:
    def write(draft: Path) -> None:
        (draft / "a.txt").write_text("first")
        inside.touch()
        while not leave.exists():
            time.sleep(0.01)

    replace_directory(path, write, _owned)


def _owned(path: Path) -> set[str]:
    return {"a.txt"}


@pytest.fixture
def processes() -> multiprocessing.context.SpawnContext:
    return multiprocessing.get_context("spawn")


def test_writers_take_turns_and_readers_see_whole_maps(tmp_path: Path, processes) -> None:
    path = tmp_path / "map"
    _map(3).save(path)
    writers = [processes.Process(target=_write, args=(path, points)) for points in (3, 500)]
    for writer in writers:
        writer.start()
    seen = set()
    while any(writer.is_alive() for writer in writers):
        found = Map.load(path)
        size = len(found)
        assert size in (3, 500)
        assert (found.coordinates("a") == size).all()
        assert (found.arrays["n"] == size).all()
        seen.add(size)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert [p.name for p in tmp_path.iterdir()] == ["map"]


def test_the_second_writer_waits_for_the_first(tmp_path: Path, processes) -> None:
    inside, leave, path = tmp_path / "inside", tmp_path / "leave", tmp_path / "results" / "map"
    first = processes.Process(target=_hold, args=(path, inside, leave))
    first.start()
    while not inside.exists():
        assert first.is_alive()
        time.sleep(0.01)
    second = processes.Process(target=_hold, args=(path, tmp_path / "inside too", leave))
    second.start()
    time.sleep(0.5)
    assert not (tmp_path / "inside too").exists()
    leave.touch()
    first.join()
    second.join()
    assert (first.exitcode, second.exitcode) == (0, 0)
    assert (tmp_path / "inside too").exists()
    assert [p.name for p in path.parent.iterdir()] == ["map"]


def test_what_a_killed_writer_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".map-draft-abcdefgh").mkdir()
    (tmp_path / ".map-draft-abcdefgh" / "half").write_text("x")
    (tmp_path / ".map-mine").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".map-draft-link").symlink_to(tmp_path / "elsewhere")
    _map(3).save(tmp_path / "map")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".map-draft-link", ".map-mine", "elsewhere", "map"]


def test_a_training_leaves_what_belongs_to_others(tmp_path: Path) -> None:
    """Beside "run": the draft of a writer of "run-2" that is alive, what it set aside, somebody's own."""
    others = [".run-2-draft-abcdefgh", ".run-2.previous", ".run-notes"]
    for name in [*others, ".run-draft-abcdefgh"]:
        (tmp_path / name).mkdir()
    with training_in(tmp_path / "run"):
        assert sorted(p.name for p in tmp_path.iterdir() if p.is_dir()) == others
    assert sorted(p.name for p in tmp_path.iterdir()) == others


def test_systems_without_locks_write_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "locked_folder", lambda folder, wait: None)
    (tmp_path / ".map-draft-abcdefgh").mkdir()
    _map(3).save(tmp_path / "map")
    assert (tmp_path / ".map-draft-abcdefgh").is_dir()


def test_a_map_that_is_replaced_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is read of two maps is read again."""
    path, turns = tmp_path / "map", iter([500, 3])
    _map(3).save(path)

    def read(place: Path) -> str:
        header = (place / "map.json").read_text()
        points = next(turns, None)
        if points is not None:
            _map(points).save(path)
        return header + str(place.stat().st_ino)

    found = files.read_directory(path, read)
    assert found.endswith(str(path.stat().st_ino))
