"""The commands that write, on tables so small that each takes a moment: for tests that disturb them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tests.faults.stage import Stage
from tests.scene import LONG, STUDY, write_tables

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


def _file(path: Path) -> bytes:
    return path.read_bytes()


def files_of(path: Path) -> dict[str, bytes]:
    """Read everything below a folder."""
    return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}


class Parts(dict[str, Any]):
    """Results of which each is whole, the old or the new one, whatever the others are."""


def _trials(path: Path) -> Parts:
    """The trials of a grid that are done, each whole; earlier ones stay where a new grid is tried."""
    return Parts({trial.name: json.loads(trial.read_text()) for trial in path.glob("trial-*.json")})


def _study(path: Path) -> Parts:
    """What a project file makes: a map, and a table of it."""
    return Parts(map=_map(path / "maps" / "m"), table=_file(path / "t.csv"))


def _demo(path: Path) -> Parts:
    return Parts(map=len(Map.load(path / "map")), picture=_file(path / "stdlib.png"))


def _experiment(path: Path) -> str:
    found = json.loads((path / "results.json").read_text())
    assert all((path / name).stat().st_size for name in found["files"])
    return str(found["experiment"])


def is_one_of(found: Any, old: Any, new: Any) -> bool:
    """Tell whether a result is the old or the new one."""
    if isinstance(found, Parts):
        return all(name in found and found[name] in (old[name], new[name]) for name in old)
    return found in (old, new)


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


COEMBED = ("coembed", "pairs.csv", *LONG, "-m", "ca", "-o", "base")
COHORTS = ("cohorts", "samples.csv", "--label", "kind", "--id", "id", "-v", "E1", "-o", "base")
TRAIN = ("kg", "train", "facts", "-m", "TransE", "-k", 4, "--epochs", 4, "--every", 1, "-o", "kg")
_TUNE = ("kg", "tune", *TRAIN[2:9], "--hold-out", "0.2,0.2", "-o", "out", "-g")
_DEMO = ("demo", "-o", "out", "--no-browser")
FIT = ("network", "fit", "pairs.csv", "links.csv", *LONG, "-o", "out")
COMMANDS = [
    Command("coembed", (*COEMBED[:-1], "out"), (*COEMBED[:-1], "out", "-k", 1), "out", _map),
    Command("cohorts", (*COHORTS[:-1], "out"), (*COHORTS[:-1], "out", "--alpha", 0.5), "out", _map),
    Command(
        "move",
        ("move", "base", "a=1,1", "-o", "out"),
        ("move", "base", "a=2,1", "-o", "out"),
        "out",
        _map,
        (COHORTS,),
    ),
    Command(
        "place",
        ("place", "base", "new1.csv", "-o", "out"),
        ("place", "base", "new2.csv", "-o", "out"),
        "out",
        _map,
        (COEMBED,),
    ),
    Command("project", ("project", "-o", "out"), ("project", "-o", "out", "-k", 1), "out", _map),
    Command("network fit", (*FIT, "-m", "contents"), (*FIT, "-m", "links", "-k", 2), "out", _map),
    Command("kg train", TRAIN, (*TRAIN, "--seed", 3), "kg", _model),
    Command("kg resume", TRAIN, ("kg", "resume", "kg", "--epochs", 6), "kg", _model),
    Command("kg tune", (*_TUNE, "margin=1,2"), (*_TUNE, "margin=1,3"), "out", _trials),
    Command(
        "kg export",
        ("kg", "export", "-f", "kg", "-o", "out"),
        ("kg", "export", "-f", "kg", "-o", "out"),
        "out",
        _map,
        (TRAIN,),
    ),
    Command(
        "plot",
        ("plot", "base", "-o", "p.svg"),
        ("plot", "base", "-o", "p.svg", "--title", "new"),
        "p.svg",
        _file,
        (COEMBED,),
    ),
    Command(
        "explore",
        ("explore", "base", "--html", "p.html"),
        ("explore", "base", "--html", "p.html", "--title", "new"),
        "p.html",
        _file,
        (COEMBED,),
    ),
    Command(
        "export",
        ("export", "base", "-o", "t.csv"),
        ("export", "base", "-o", "t.csv", "--kinds", "doc"),
        "t.csv",
        _file,
        (COEMBED,),
    ),
    Command(
        "export tensorboard",
        ("export", "base", "-f", "tensorboard", "-o", "tb"),
        ("export", "base", "-f", "tensorboard", "-o", "tb", "--kinds", "doc"),
        "tb",
        files_of,
        (COEMBED,),
    ),
    Command(
        "datasets convert",
        ("datasets", "convert", "cora", "lbc1", "-o", "sets"),
        ("datasets", "convert", "cora", "lbc2", "-o", "sets"),
        "sets/cora",
        files_of,
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


def make_scene(folder: Path, with_study: bool) -> None:
    """Put what the commands read into a folder."""
    folder.mkdir(exist_ok=True)
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


def done(stage: Stage, folder: Path, arguments: tuple[object, ...], prepare: str = "") -> dict[str, Any]:
    """Run a command that must end well."""
    answer = stage.run(folder, *arguments, prepare=prepare)
    assert answer["code"] == 0, answer["output"]
    return answer


def make_old(stage: Stage, folder: Path, command: Command) -> Any:
    """Set the scene and make the earlier result of a command; gives what it holds."""
    make_scene(folder, command.name != "init")
    for arguments in (*command.before, command.old):
        done(stage, folder, arguments, command.prepare)
    return command.read(folder / command.result)
