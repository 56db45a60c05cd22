"""Every command, given whatever: exit 0, or exit 1 with one message; never a traceback, never a bug."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from tests.campaigns import campaign
from tests.damage import any_text, damaged_bytes
from tests.faults.writers import SMALL_EXPERIMENTS, SMALL_LIBRARY
from tests.scene import FACTS, LINKS, LONG, PAIRS, SAMPLES, STUDY, every_command, write_tables

from relscape import datasets
from relscape.cli import main
from relscape.project import runner

odd = st.sampled_from(
    [
        *(
            "",
            "0",
            "-1",
            "1",
            "2",
            "3",
            "1e400",
            str(10**30),
            "nan",
            "inf",
            "abc",
            "doc",
            "word",
            "a=1,1",
            "doc:d1",
            "word:w1",
        ),
        *(
            "1,2",
            "x=y",
            "pairs.csv",
            "samples.csv",
            "folder",
            "base",
            "a\u2028b",
            "p.svg",
            "m.csv",
            "ca",
            "E1",
            "e1",
            "r1",
            "?",
            "facts",
            "kg",
            "net",
        ),
    ]
)

# What a command usually takes, and options whose values are drawn.
COMMANDS: dict[str, tuple[list[str], list[str]]] = {
    "coembed": (
        ["coembed", "pairs.csv", *LONG, "-o", "out"],
        [
            "-k",
            "-m",
            "-p",
            "--layout",
            "--min-degree",
            "--row-info",
            "--align-to",
            "--encoding",
            "--text",
            "--id",
        ],
    ),
    "cohorts": (
        ["cohorts", "samples.csv", "--label", "kind", "--id", "id", "-o", "out"],
        [
            "-k",
            "-v",
            "--alpha",
            "--eta",
            "--prototypes",
            "--metric",
            "--seed",
            "--features",
            "--anchors",
            "--init",
        ],
    ),
    "network fit": (
        ["network", "fit", "pairs.csv", "links.csv", *LONG, "-m", "contents", "-o", "out"],
        ["-k", "--hold-out", "--perplexity", "--direction", "--source", "--target", "-p", "--layout"],
    ),
    "network suggest": (
        ["network", "suggest", "net", "d1"],
        ["-n", "--rows", "--columns", "--weight", "--text", "--id", "--encoding", "--sheet", "--from"],
    ),
    "network score": (
        ["network", "score", "net", "links.csv"],
        ["--source", "--target", "--ties", "--encoding", "--from", "--query"],
    ),
    "kg train": (
        ["kg", "train", "facts", "-m", "TransE", "-k", "3", "--epochs", "2", "-o", "out"],
        ["-m", "-k", "--epochs", "--hold-out", "-p", "--every", "--preset", "--seed"],
    ),
    "kg resume": (["kg", "resume", "kg"], ["--epochs", "--learning-rate"]),
    "kg rank": (["kg", "rank", "kg", "--split", "train"], ["--split", "--ties", "--encoding"]),
    "kg predict": (["kg", "predict", "e1", "r1", "--from", "kg"], ["-n", "--file", "-f"]),
    "kg suspicious": (["kg", "suspicious", "--from", "kg"], ["-n", "--relation", "--split", "-f"]),
    "kg inspect": (
        ["kg", "inspect", "facts"],
        ["--hold-out", "--overlap", "--encoding", "--seed", "--query"],
    ),
    "kg tune": (
        [
            *("kg", "tune", "facts", "-m", "TransE", "-k", "3", "--epochs", "2", "-o", "out"),
            *("-g", "margin=1,2", "--hold-out", "0.2,0.2"),
        ],
        ["-g", "--by", "-p", "--preset", "--hold-out", "-k"],
    ),
    "kg export": (["kg", "export", "-f", "kg", "-o", "e.csv"], ["-o", "-f"]),
    "project": (["project", "-o", "out"], ["-k", "--ridge", "--constraint", "--model", "-p", "--seed"]),
    "init": (["init", "pairs.csv", "-o", "new.toml"], ["-o"]),
    "place": (
        ["place", "base", "pairs.csv"],
        ["--rows", "--columns", "--weight", "--kind", "--neighbors", "-o"],
    ),
    "neighbors": (["neighbors", "base", "doc:d1"], ["-k", "--among"]),
    "plot": (
        ["plot", "base", "-o", "p.svg"],
        ["--axes", "--layout", "--color", "--labels", "--size", "--kinds", "-o"],
    ),
    "score": (["score", "base"], ["--label", "--ties", "--words"]),
    "info": (["info", "base"], []),
    "export": (["export", "base", "-o", "m.csv"], ["-f", "--kinds", "-o"]),
    "move": (["move", "cohorts", "a=1,1", "-o", "out"], ["-o"]),
    "explore": (["explore", "base", "--html", "p.html"], ["--title", "--kind", "--new"]),
    "clusters": (["clusters", "base"], ["--kind", "-k"]),
    "datasets info": (["datasets", "info", "cora"], []),
    "datasets list": (["datasets", "list"], []),
    "datasets convert": (["datasets", "convert", "cora", "folder", "-o", "sets"], ["-o"]),
    "run": (["run", "-f", "relscape.toml"], ["-f", "-n"]),
    "publish": (["publish", "base", "postgresql://127.0.0.1:1/none"], ["--schema", "--name"]),
    "reproduce": (["reproduce", "coembed-cost", "--quick", "-o", "out"], ["-o", "--only"]),
    "demo": (["demo", "-o", "out", "--no-browser"], ["-o"]),
    "doctor": (["doctor"], []),
}

# Real parameters, for commands that take them by -p.
PARAMETERS: dict[str, tuple[str, ...]] = {
    "coembed": (
        "n_restarts", "ridge", "equal_rows", "start", "tolerance", "max_iterations", "model", "beta", "zeta",
        "k_rows", "xi", "p", "polish", "n_lambdas", "components", "scaling", "models", "weights",
    ),
    "network fit": (
        "row_normalize", "margin", "init", "tolerance", "training", "neighbours", "n_topics", "ridge",
        "kernel", "n_steps", "shrinkage", "n_communities", "direction", "perplexity",
    ),
    "project": ("rank", "center", "degree", "solver", "standardize", "reference", "kernels"),
    "kg train": (
        "margin", "learning_rate", "loss", "norm", "negatives", "n_batches", "sides", "filter_negatives",
        "type_aware", "reciprocal", "dtype", "window", "validate_every", "options", "xi", "d", "grad_clip",
    ),
}  # fmt: skip
settings = st.sampled_from(
    [
        str(10**30),
        "-1e30",
        "1e300",
        "0.5",
        "True",
        "no",
        "None",
        "[]",
        "{}",
        "[1, 'a']",
        "(((",
        "1+2j",
        "b'x'",
    ]
)


def test_every_command_is_abused() -> None:
    assert set(COMMANDS) == every_command()


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables, facts, a project file and two maps."""
    folder = tmp_path_factory.mktemp("scene")
    write_tables(folder)
    (folder / "relscape.toml").write_text(STUDY)
    (folder / "folder").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert _code(["coembed", "pairs.csv", *LONG, "-m", "ca", "--keep-relations", "-o", "base"]) == 0
        for name, place in {"cohorts": "cohorts", "kg train": "kg", "network fit": "net"}.items():
            assert _code([*COMMANDS[name][0][:-1], place]) == 0
    return folder


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the demo and the experiments small, until the test is over."""
    monkeypatch.setattr(datasets, "load_stdlib", datasets.load_stdlib)
    monkeypatch.setattr(runner, "PROCEDURES", dict(runner.PROCEDURES))
    monkeypatch.setattr(runner, "judged", runner.judged)
    for program in (SMALL_LIBRARY, SMALL_EXPERIMENTS):
        exec(program, {})


def _code(arguments: list[str]) -> int:
    with warnings.catch_warnings(), pytest.raises(SystemExit) as stop:
        warnings.simplefilter("error")
        main.run(arguments)
    return int(stop.value.code or 0)


def _ends_well(arguments: list[str], capsys: Any) -> None:
    code = _code(arguments)
    printed = capsys.readouterr()
    assert code in (0, 1), arguments
    assert "Traceback" not in printed.err + printed.out
    assert "this is a bug" not in printed.err, printed.err
    if code == 1:
        assert printed.err.count("error: ") == 1, printed.err


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", COMMANDS)
@campaign(few=4, many=500, data=st.data())
def test_options(name: str, scene: Path, capsys: Any, monkeypatch: Any, data: st.DataObject) -> None:
    monkeypatch.chdir(scene)
    usual, options = COMMANDS[name]
    arguments = list(usual)
    for _ in range(data.draw(st.integers(0, 2))):
        if options and data.draw(st.booleans()):
            arguments += [data.draw(st.sampled_from(options)), data.draw(odd)]
        else:
            at = data.draw(st.integers(1, max(1, len(arguments) - 1)))
            words = st.one_of(odd, any_text.filter(lambda text: not set(text) & {"\0", "/"}))
            arguments[at : at + 1] = [data.draw(words)]
    if arguments[0] == "explore" and "--html" not in arguments:
        return  # that serves until it is stopped
    if ".." not in arguments:
        _ends_well(arguments, capsys)


@pytest.mark.parametrize("name", PARAMETERS)
@campaign(few=8, many=500, data=st.data())
def test_parameters(name: str, scene: Path, capsys: Any, monkeypatch: Any, data: st.DataObject) -> None:
    monkeypatch.chdir(scene)
    methods = {
        "coembed": ("code", "sdr", "mutual", "ca", "lsi", "acas", "psdcode", "multicode"),
        "network fit": ("network", "links", "contents", "rtm", "spml", "cesna"),
        "kg train": ("TransE", "TransPES", "DistMult"),
        "project": (),
    }[name]
    arguments = [*COMMANDS[name][0], "-k", "2"]
    if methods:
        arguments += ["-m", data.draw(st.sampled_from(methods))]
    for _ in range(data.draw(st.integers(1, 2))):
        value = data.draw(st.one_of(odd, settings))
        arguments += ["-p", f"{data.draw(st.sampled_from(PARAMETERS[name]))}={value}"]
    _ends_well(arguments, capsys)


_WIDE = "name,x,y\na,1,0\nb,2,3\n"
_TRAIN = ["-m", "TransE", "-k", "3", "--epochs", "2", "-o", "out"]
_FIT = ["network", "fit", *LONG, "pairs.csv"]
TABLES = {
    "coembed": ("t.csv", PAIRS, ["coembed", "t.csv", *LONG, "-m", "ca", "-o", "out"]),
    "coembed wide": ("w.csv", _WIDE, ["coembed", "w.csv", "-m", "ca", "-k", "1", "-o", "out"]),
    "cohorts": ("s.csv", SAMPLES, ["cohorts", "s.csv", "--label", "kind", "--id", "id", "-o", "out"]),
    "network": ("l.csv", LINKS, [*_FIT, "l.csv", "-m", "contents", "-o", "out"]),
    "kg train": ("kg/train.txt", FACTS, ["kg", "train", "kg", *_TRAIN]),
    "project": ("study.toml", STUDY, ["project", "study.toml", "-o", "out"]),
    "init": ("i.csv", SAMPLES, ["init", "i.csv", "-o", "new.toml", "--force"]),
    "place": ("n.csv", "doc,word,n\nx1,w1,2\nx1,w2,1\n", ["place", "base", "n.csv"]),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
@campaign(few=6, many=1000, data=st.data())
def test_damaged_tables(name: str, scene: Path, capsys: Any, monkeypatch: Any, data: st.DataObject) -> None:
    monkeypatch.chdir(scene)
    file, text, arguments = TABLES[name]
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_bytes(data.draw(damaged_bytes(text.encode())))
    _ends_well(arguments, capsys)
