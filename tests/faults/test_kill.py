"""Every command that writes, killed at any moment: on the disk is the old or the new result, whole."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.faults.stage import Stage
from tests.scene import LONG, STUDY, write_tables

from relscape.cli import commands
from relscape.maps import Map
from relscape.models.registry import load_model

SMALL_EXPERIMENTS = """
from matplotlib.figure import Figure
from relscape.project import runner
from relscape.project.outcome import Findings, Verdict
records = [{"set": "a", "method": "ca", "x": k / 7, "refusal": "", "chosen": {}} for k in range(99)]
for name in runner.PROCEDURES:
    runner.PROCEDURES[name] = lambda _: Findings(("set",), ("x",), records, pictures={"p": Figure()})
runner.judged = lambda *_: [Verdict("a", "b", "reached", "c")]
"""
SMALL_LIBRARY = """
import relscape as rs
from relscape import datasets
names = ["asyncio", *(f"m{i}" for i in range(1, 20))]  # one that the demo asks about
pairs = [(names[i], f"w{j}") for i in range(20) for j in range(20) if (i * i + j * j * i + j) % 23 < 7]
words = rs.RelationalData.from_edges(pairs, rows="module", columns="word", name="words")
modules = words.entities["module"].ids
chapters = {"chapter": [f"chapter {k % 3}" for k in range(len(modules))]}
named = [rs.EntitySet("module", modules, fields=chapters), words.entities["word"]]
words = rs.RelationalData(named, words.relations.values())
words.only = lambda _: words
datasets.load_stdlib = lambda: words
"""


def _map(path: Path) -> Any:
    joint = Map.load(path)
    return [
        (kind, joint.group(kind).ids.tolist(), joint.coordinates(kind).round(9).tolist())
        for kind in joint.groups
    ]


def _model(path: Path) -> Any:
    return {name: np.asarray(rows).tolist() for name, rows in load_model(path).params_.items()}


def _training(path: Path) -> Any:
    """A training: its model, or the checkpoint that it can go on from."""
    if (path / "model.json").exists():
        return _model(path)
    return "under way" if load_model(path / "checkpoint").params_ else None


def _file(path: Path) -> bytes:
    return path.read_bytes()


def _tables(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}


def _trials(path: Path) -> str:
    """The trials of a grid that are done, each whole."""
    for trial in path.glob("trial-*.json"):
        assert json.loads(trial.read_text())["trial"]
    return "whole"


class Parts(dict[str, Any]):
    """Results of which each is whole, the old or the new one, whatever the others are."""


def _study(path: Path) -> Parts:
    """What a project file makes: a map, and a table of it."""
    return Parts(map=_map(path / "maps" / "m"), table=_file(path / "t.csv"))


def _demo(path: Path) -> Parts:
    return Parts(map=len(Map.load(path / "map")), picture=_file(path / "stdlib.png"))


def _experiment(path: Path) -> str:
    found = json.loads((path / "results.json").read_text())
    assert all((path / name).stat().st_size for name in found["files"])
    return str(found["experiment"])


def _one_of(found: Any, old: Any, new: Any) -> bool:
    if isinstance(found, Parts):
        return all(found[name] in (old[name], new[name]) for name in old)
    return found in (old, new, "under way")


@dataclass(frozen=True)
class Command:
    """What makes the old result, what is to replace it, where it is, how it is read, what comes before."""

    name: str
    old: tuple[object, ...]
    new: tuple[object, ...]
    result: str
    read: Callable[[Path], Any]
    before: tuple[tuple[object, ...], ...] = ()
    prepare: str = ""


_COEMBED = ("coembed", "pairs.csv", *LONG, "-m", "ca", "-o", "base")
_COHORTS = ("cohorts", "samples.csv", "--label", "kind", "--id", "id", "-v", "E1", "-o", "base")
_TRAIN = ("kg", "train", "facts", "-m", "TransE", "-k", 4, "--epochs", 4, "--every", 1, "-o", "kg")
_TUNE = ("kg", "tune", *_TRAIN[2:9], "--hold-out", "0.2,0.2", "-o", "out", "-g")
_DEMO = ("demo", "-o", "out", "--no-browser")
_FIT = ("network", "fit", "pairs.csv", "links.csv", *LONG, "-o", "out")
COMMANDS = [
    Command("coembed", (*_COEMBED[:-1], "out"), (*_COEMBED[:-1], "out", "-k", 1), "out", _map),
    Command("cohorts", (*_COHORTS[:-1], "out"), (*_COHORTS[:-1], "out", "--alpha", 0.5), "out", _map),
    Command(
        "move",
        ("move", "base", "a=1,1", "-o", "out"),
        ("move", "base", "a=2,1", "-o", "out"),
        "out",
        _map,
        (_COHORTS,),
    ),
    Command(
        "place",
        ("place", "base", "new1.csv", "-o", "out"),
        ("place", "base", "new2.csv", "-o", "out"),
        "out",
        _map,
        (_COEMBED,),
    ),
    Command("project", ("project", "-o", "out"), ("project", "-o", "out", "-k", 1), "out", _map),
    Command("network fit", (*_FIT, "-m", "contents"), (*_FIT, "-m", "links", "-k", 2), "out", _map),
    Command("kg train", _TRAIN, (*_TRAIN, "--seed", 3), "kg", _training),
    Command("kg resume", _TRAIN, ("kg", "resume", "kg", "--epochs", 6), "kg", _training),
    Command("kg tune", (*_TUNE, "margin=1,2"), (*_TUNE, "margin=1,3"), "out", _trials),
    Command(
        "kg export",
        ("kg", "export", "-f", "kg", "-o", "out"),
        ("kg", "export", "-f", "kg", "-o", "out"),
        "out",
        _map,
        (_TRAIN,),
    ),
    Command(
        "plot",
        ("plot", "base", "-o", "p.svg"),
        ("plot", "base", "-o", "p.svg", "--title", "new"),
        "p.svg",
        _file,
        (_COEMBED,),
    ),
    Command(
        "explore",
        ("explore", "base", "--html", "p.html"),
        ("explore", "base", "--html", "p.html", "--title", "new"),
        "p.html",
        _file,
        (_COEMBED,),
    ),
    Command(
        "export",
        ("export", "base", "-o", "t.csv"),
        ("export", "base", "-o", "t.csv", "--kinds", "doc"),
        "t.csv",
        _file,
        (_COEMBED,),
    ),
    Command(
        "export tensorboard",
        ("export", "base", "-f", "tensorboard", "-o", "tb"),
        ("export", "base", "-f", "tensorboard", "-o", "tb", "--kinds", "doc"),
        "tb",
        _tables,
        (_COEMBED,),
    ),
    Command(
        "datasets convert",
        ("datasets", "convert", "cora", "lbc1", "-o", "sets"),
        ("datasets", "convert", "cora", "lbc2", "-o", "sets"),
        "sets/cora",
        _tables,
    ),
    Command("run", ("run", "-f", "one.toml"), ("run", "-f", "two.toml"), ".", _study),
    Command(
        "reproduce",
        ("reproduce", "coembed-cost", "--quick", "-o", "out"),
        ("reproduce", "code-models", "--quick", "-o", "out"),
        "out",
        _experiment,
        prepare=SMALL_EXPERIMENTS,
    ),
    Command("demo", _DEMO, _DEMO, "out", _demo, prepare=SMALL_LIBRARY),
    Command(
        "init", ("init", "pairs.csv"), ("init", "pairs.csv", "samples.csv", "--force"), "relscape.toml", _file
    ),
]


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


def _all_commands() -> set[str]:
    named = set()
    for name in commands.COMMANDS:
        inner = getattr(commands.load_command(name), "commands", None)
        named |= {f"{name} {part}" for part in inner} if inner else {name}
    return named


def test_every_command_is_killed_or_only_reads() -> None:
    """A command that is new belongs to COMMANDS or, if it writes nothing, to READING."""
    killed = {command.name for command in COMMANDS} | {"publish"}  # which has its own test
    assert killed - {"export tensorboard"} | set(READING) == _all_commands()
    assert not killed & set(READING)


def test_commands_that_read_do_not_write(tmp_path: Path, stage: Stage) -> None:
    folder = tmp_path / "work"
    _scene(folder, with_study=True)
    keep = ("--keep-relations",)
    for arguments in ((*_COEMBED, *keep), _TRAIN, (*_FIT[:-1], "net", "-m", "contents")):
        _done(stage, folder, arguments)
    before = _tables(folder)
    for arguments in READING.values():
        _done(stage, folder, arguments)
    assert _tables(folder) == before


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


def _scene(folder: Path, with_study: bool) -> None:
    folder.mkdir()
    write_tables(folder)
    for k in (1, 2):
        (folder / f"new{k}.csv").write_text(f"doc,word,n\nn{k},w1,2\nn{k},w2,{k}\n")
        (folder / f"lbc{k}").mkdir()
        (folder / f"lbc{k}" / "cora.content").write_text(
            "".join(f"p{i} {i % 2} 1 {i % k} c\n" for i in range(5))
        )
        (folder / f"lbc{k}" / "cora.cites").write_text("p1 p2\np2 p3\n")
    if with_study:
        (folder / "relscape.toml").write_text(STUDY)
        for name, axes in {"one": 2, "two": 1}.items():
            text = STUDY.replace("n_components = 2", f"n_components = {axes}")
            text += '[outputs.t]\nfile = "t.csv"\n'
            (folder / f"{name}.toml").write_text(text)


def _done(stage: Stage, folder: Path, arguments: tuple[object, ...], prepare: str = "") -> dict[str, Any]:
    done = stage.run(folder, *arguments, prepare=prepare)
    assert done["code"] == 0, done["output"]
    return done


def _put_back(backup: Path, folder: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(backup, folder)


@pytest.mark.parametrize("times", [3, pytest.param(100, marks=pytest.mark.long)], ids=["few", "many"])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_killed(tmp_path: Path, stage: Stage, command: Command, times: int) -> None:
    folder, backup, result = tmp_path / "work", tmp_path / "backup", tmp_path / "work" / command.result
    _scene(folder, command.name != "init")
    for arguments in (*command.before, command.old):
        _done(stage, folder, arguments, command.prepare)
    old = command.read(result)
    shutil.copytree(folder, backup)
    told = _done(stage, folder, command.new, command.prepare)
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
        assert _one_of(command.read(result), old, new)
    assert killed >= 2 * times // 3
    if command.name != "kg resume":  # which has nothing left to do where it came to its end
        _done(stage, folder, command.new, command.prepare)  # nothing that was left behind is in the way
        assert command.read(result) == new
    assert not list(folder.rglob(".*-draft-*"))


@pytest.mark.parametrize("times", [3, pytest.param(100, marks=pytest.mark.long)], ids=["few", "many"])
def test_publish_killed(tmp_path: Path, stage: Stage, postgres: Any, times: int) -> None:
    """In the database is the old or the new version, with all of its points."""
    folder, address = tmp_path / "work", postgres.database(f"killed{times}")
    _scene(folder, with_study=False)
    for axes in (1, 2):
        _done(stage, folder, (*_COEMBED[:-1], f"map{axes}", "-k", axes))
    publish = [("publish", f"map{axes}", address, "--name", "m") for axes in (1, 2)]

    def published() -> tuple[int, set[int], int]:
        """The last version, how many axes its points have, and how many points there are."""
        found = postgres.run("SELECT cardinality(coordinates) FROM m_points", database=f"killed{times}")
        [(last,)] = postgres.run("SELECT max(version) FROM m_versions", database=f"killed{times}")
        return last, {axes for (axes,) in found}, len(found)

    seconds = _done(stage, folder, publish[0])["seconds"]
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
