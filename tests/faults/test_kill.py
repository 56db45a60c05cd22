"""Every command that writes, killed at any moment: on the disk is the old or the new result, whole."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from tests.faults.stage import Stage
from tests.faults.writers import (
    COEMBED,
    COMMANDS,
    FIT,
    TRAIN,
    Command,
    done,
    files_of,
    is_one_of,
    make_old,
    make_scene,
)
from tests.scene import every_command

# What only reads: each with arguments that make it work on the scene.
READING = {
    "neighbors": ("neighbors", "base", "doc:d1"),
    "clusters": ("clusters", "base", "-k", 2),
    "score": ("score", "base"),
    "info": ("info", "base"),
    "kg inspect": ("kg", "inspect", "facts"),
    "kg rank": ("kg", "rank", "kg", "--split", "train"),
    "kg predict": ("kg", "predict", "e1", "r1", "--from", "kg"),
    "kg suspicious": ("kg", "suspicious", "--from", "kg"),
    "network suggest": ("network", "suggest", "net", "d1"),
    "network score": ("network", "score", "net", "links.csv"),
    "datasets list": ("datasets", "list"),
    "datasets info": ("datasets", "info", "smoking"),
    "doctor": ("doctor",),
}


def test_every_command_is_killed_or_only_reads() -> None:
    """A command that is new belongs to COMMANDS or, if it writes nothing, to READING."""
    killed = {command.name for command in COMMANDS} | {"publish"}  # which has its own test
    assert killed - {"export tensorboard"} | set(READING) == every_command()
    assert not killed & set(READING)


def test_commands_that_read_do_not_write(tmp_path: Path, stage: Stage) -> None:
    folder = tmp_path / "work"
    make_scene(folder, with_study=True)
    keep = ("--keep-relations",)
    for arguments in ((*COEMBED, *keep), TRAIN, (*FIT[:-1], "net", "-m", "contents")):
        done(stage, folder, arguments)
    before = files_of(folder)
    for arguments in READING.values():
        done(stage, folder, arguments)
    assert files_of(folder) == before


def _put_back(backup: Path, folder: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(backup, folder)


@pytest.mark.parametrize("times", [3, pytest.param(100, marks=pytest.mark.long)], ids=["few", "many"])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_killed(tmp_path: Path, stage: Stage, command: Command, times: int) -> None:
    folder, backup, result = tmp_path / "work", tmp_path / "backup", tmp_path / "work" / command.result
    old = make_old(stage, folder, command)
    shutil.copytree(folder, backup)
    told = done(stage, folder, command.new, command.prepare)
    writes = told["touched"]
    new = command.read(result)
    rng = random.Random(command.name)
    killed = 0
    for turn in range(times):
        _put_back(backup, folder)
        if turn % 3 == 2:
            code = _kill_after(
                stage, folder, command.new, rng.uniform(0, 1.1 * told["seconds"]), command.prepare
            )
        else:  # just before one of the times it touches the folder, the last ones twice as often
            write = rng.randint(1, writes) if turn % 3 else max(1, writes - rng.randint(0, 9))
            code = stage.run(folder, *command.new, write=write, prepare=command.prepare)["code"]
            assert code == -signal.SIGKILL
        killed += code == -signal.SIGKILL
        assert is_one_of(command.read(result), old, new)
    assert killed >= 2 * times // 3
    if command.name != "kg resume":  # which has nothing left to do where it came to its end
        done(stage, folder, command.new, command.prepare)  # nothing that was left behind is in the way
        assert command.read(result) == new
        assert not list(folder.rglob(".*-draft-*"))


@pytest.mark.parametrize("times", [3, pytest.param(100, marks=pytest.mark.long)], ids=["few", "many"])
def test_publish_killed(tmp_path: Path, stage: Stage, postgres: Any, times: int) -> None:
    """In the database is the old or the new version, with all of its points."""
    folder, address = tmp_path / "work", postgres.database(f"killed{times}")
    make_scene(folder, with_study=False)
    for axes in (1, 2):
        done(stage, folder, (*COEMBED[:-1], f"map{axes}", "-k", axes))
    publish = [("publish", f"map{axes}", address, "--name", "m") for axes in (1, 2)]

    def published() -> tuple[int, set[int], int]:
        """The last version, how many axes its points have, and how many points there are."""
        found = postgres.run("SELECT cardinality(coordinates) FROM m_points", database=f"killed{times}")
        [(last,)] = postgres.run("SELECT max(version) FROM m_versions", database=f"killed{times}")
        return last, {axes for (axes,) in found}, len(found)

    seconds = done(stage, folder, publish[0])["seconds"]
    rng = random.Random(0)
    for turn in range(times):
        version, axes, points = published()
        old, new = (version, axes, points), (version + 1, {3 - min(axes)}, points)
        code = _kill_after(stage, folder, publish[2 - min(axes)], rng.uniform(0.3, 1.1) * seconds)
        assert published() == new if code == 0 else published() in (old, new), turn


def _kill_after(
    stage: Stage, folder: Path, arguments: tuple[object, ...], seconds: float, prepare: str = ""
) -> int:
    process = stage.start(folder, *arguments, prepare=prepare)
    time.sleep(seconds)
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    return int(stage.end()["code"])
