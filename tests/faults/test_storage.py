"""A full disk, a place that is read-only, too little memory: one clear message, and nothing is lost."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.faults.stage import Stage
from tests.faults.writers import COMMANDS, Command, done, files_of, is_one_of, make_old
from tests.scene import LONG, PAIRS

from relscape.errors import StorageError
from relscape.maps import Group, Map
from relscape.plot.saving import save_picture

COEMBED = ("coembed", "pairs.csv", *LONG)


def _relscape(folder: Path, *arguments: object, before: str = "") -> subprocess.CompletedProcess[str]:
    program = f"{before}\nfrom relscape.cli import main\nmain.run({[str(a) for a in arguments]!r})"
    return subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


def _refused(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr
    assert done.stderr.count("error: ") == 1
    for part in parts:
        assert part in done.stderr


def _mount(place: Path, *options: str) -> None:
    done = subprocess.run(["mount", *options, str(place)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")


def _disk(place: Path, size: str) -> Iterator[Path]:
    place.mkdir()
    _mount(place, "-t", "tmpfs", "-o", f"size={size}", "tmpfs")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=False)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 kB, where the system lets one be made."""
    yield from _disk(tmp_path / "disk", "256k")


def _map(points: int) -> Map:
    rng = np.random.default_rng(0)
    return Map([Group("a", [f"p{i}" for i in range(points)], rng.normal(size=(points, 2)))])


def test_a_full_disk(small_disk: Path) -> None:
    _map(10).save(small_disk / "map")
    for large in (_map(30_000), Map([Group("a", ["p"], np.eye(1))], arrays={"large": np.ones(10**6)})):
        with pytest.raises(StorageError, match=r"cannot write .*No space left on device.* Free some space"):
            large.save(small_disk / "map")
        assert len(Map.load(small_disk / "map")) == 10
        assert [p.name for p in small_disk.iterdir()] == ["map"]


def test_a_full_disk_and_files_for_other_programs(small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(bytes(230 * 1024))
    for name in ("m.csv", "m.parquet", "m.graphml", "m.html"):
        with pytest.raises(StorageError, match="No space left on device"):
            _map(30_000).export(small_disk / name)
    with pytest.raises(StorageError, match="No space left on device"):
        save_picture(_map(500).plot(), small_disk / "p.svg")
    assert [p.name for p in small_disk.iterdir()] == ["filler"]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 32 MB, where the system lets one be made."""
    yield from _disk(tmp_path / "disk", "32m")


def _clearly_refused(answer: dict[str, Any], reason: str) -> None:
    assert answer["code"] == 1, answer["output"]
    assert answer["output"].count("error: ") == 1, answer["output"]
    assert reason in answer["output"]
    assert "bug" not in answer["output"]
    assert "Traceback" not in answer["output"]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_where_it_may_not_write(disk: Path, stage: Stage, command: Command) -> None:
    """A disk that is full and one that is read-only: one message, and everything is as it was."""
    make_old(stage, disk, command)
    filler = disk / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as stream:
        while True:
            stream.write(bytes(4096))
    before = files_of(disk)
    _clearly_refused(stage.run(disk, *command.new, prepare=command.prepare), "No space left on device")
    assert files_of(disk) == before
    filler.unlink()
    before = files_of(disk)
    _mount(disk, "-o", "remount,ro")
    _clearly_refused(stage.run(disk, *command.new, prepare=command.prepare), "read-only")
    assert files_of(disk) == before
    _mount(disk, "-o", "remount,rw")
    done(stage, disk, command.new, command.prepare)


LIMIT = """
import resource, signal
signal.alarm(120)
used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {megabytes} * 2**20,) * 2)
"""


@pytest.mark.long  # a library may end the process where an address space is short
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_with_too_little_memory(tmp_path: Path, stage: Stage, command: Command) -> None:
    """Under ``ulimit -v`` a command is done or refuses, whatever it lacked; what was saved stays whole."""
    folder, backup = tmp_path / "work", tmp_path / "backup"
    old = make_old(stage, folder, command)
    shutil.copytree(folder, backup)
    done(stage, folder, command.new, command.prepare)
    new = command.read(folder / command.result)
    for megabytes in (1, 4, 16, 64, 256):
        shutil.rmtree(folder)
        shutil.copytree(backup, folder)
        limit = LIMIT.format(megabytes=megabytes)
        answer = stage.run(folder, *command.new, prepare=command.prepare + limit)
        assert answer["code"] != -signal.SIGALRM
        if "error: " in answer["output"]:  # a library that ends the process leaves no time for a message
            assert any(word in answer["output"].lower() for word in ("memory", "pthread_create failed"))
        for blame in ("this is a bug", "damaged", "Traceback"):
            assert blame not in answer["output"]
        assert is_one_of(command.read(folder / command.result), old, new)


def test_files_that_may_not_grow(tmp_path: Path) -> None:
    """The limit of a shell, ulimit -f, in place of a full disk."""
    (tmp_path / "pairs.csv").write_text(PAIRS)
    assert _relscape(tmp_path, *COEMBED, "-o", "map").returncode == 0
    before = {p.name: p.read_bytes() for p in (tmp_path / "map").rglob("*") if p.is_file()}
    limit = (
        "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900))"
    )
    _refused(_relscape(tmp_path, *COEMBED, "-o", "map", "-k", 1, before=limit), "map", "too large")
    assert {p.name: p.read_bytes() for p in (tmp_path / "map").rglob("*") if p.is_file()} == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["map", "pairs.csv"]


@pytest.mark.parametrize(
    ("refused", "told"),
    [
        ("raise MemoryError", "out of memory"),
        ('raise RuntimeError("can\'t start new thread")', "no thread can be started: memory"),
        ("main.complain = refused; raise MemoryError", "error: out of memory"),  # nor any for a message
    ],
)
def test_no_memory_left(tmp_path: Path, refused: str, told: str) -> None:
    """An allocation that is refused ends with a message; the earlier map stays."""
    (tmp_path / "pairs.csv").write_text(PAIRS)
    assert _relscape(tmp_path, *COEMBED, "-o", "map").returncode == 0
    refuse = (
        "import relscape.solvers.spectral, relscape.models.spectral as models\n"
        "from relscape.cli import main\n"
        f"def refused(*_, **__): {refused}\n"
        "models.CorrespondenceAnalysis._embed = refused"
    )
    done = _relscape(tmp_path, *COEMBED, "-o", "map", before=refuse)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert told in done.stderr
    assert Map.load(tmp_path / "map").groups == ("doc", "word")


@pytest.mark.long  # libraries may end the process where an address space is short
def test_too_little_memory(tmp_path: Path) -> None:
    """What asks for more than there is ends with a message; the earlier map stays."""
    (tmp_path / "pairs.csv").write_text(PAIRS)
    assert _relscape(tmp_path, *COEMBED, "-o", "map").returncode == 0
    rows = "\n".join(f"a{i},b{i},1" for i in range(30_000))
    (tmp_path / "large.csv").write_text(f"doc,word,n\n{rows}\n")
    limit = (
        "import numpy, scipy.sparse, pyarrow.parquet, duckdb, sklearn, relscape.cli.coembed, resource\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 700_000_000,) * 2)"
    )
    arguments = ("coembed", "large.csv", *COEMBED[2:], "-m", "mkpe", "-o", "map")
    done = _relscape(tmp_path, *arguments, before=limit)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    if done.returncode == 1:  # a library that ends the process leaves no time for a message
        assert "memory" in done.stderr
    assert Map.load(tmp_path / "map").groups == ("doc", "word")
