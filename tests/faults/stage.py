"""Commands run in processes that can be killed: a stage that has everything imported and forks for each.

Run as a program it reads requests, one JSON line each: {"arguments", "folder", "write", "prepare"}. With
``write`` n the process kills itself just before it touches the folder for the n-th time; 0 counts the times
instead. ``prepare`` is a program that runs before the command, to make small what it reads or computes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_TOUCHING = {
    "os.rename",
    "os.mkdir",
    "os.remove",
    "os.rmdir",
    "os.link",
    "os.chmod",
    "os.symlink",
    "os.truncate",
}


class Stage:
    """The other end: a process to which commands are handed."""

    def __init__(self) -> None:
        program = [sys.executable, str(Path(__file__).resolve())]
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, folder: Path, *arguments: object, write: int = 0, prepare: str = "") -> int:
        """Begin a command in a folder; gives the process."""
        request = {"folder": str(folder), "write": write, "prepare": prepare}
        request["arguments"] = [str(a) for a in arguments]
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return int(self._answer()["process"])

    def end(self) -> dict[str, Any]:
        """Wait for it; gives the code (negative: the signal), what it printed, and how often it touched."""
        return self._answer()

    def run(self, folder: Path, *arguments: object, write: int = 0, prepare: str = "") -> dict[str, Any]:
        self.start(folder, *arguments, write=write, prepare=prepare)
        return self.end()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def _writes(event: str, arguments: tuple[Any, ...], folder: str) -> bool:
    """Tell whether an audited event changes something in the folder."""
    named = arguments[:1] if event == "open" else arguments[:2]  # the second of open is its mode
    paths = [os.fsdecode(a) for a in named if isinstance(a, str | bytes)]
    if event == "open":
        changes = isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    else:
        changes = event in _TOUCHING
    return bool(changes) and any(str(Path(path).absolute()).startswith(folder) for path in paths)


def _perform(request: dict[str, Any], told: int) -> None:
    folder = request["folder"]
    os.chdir(folder)
    touched = 0

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal touched
        if (event == "open" or event in _TOUCHING) and _writes(event, arguments, folder):
            touched += 1
            if touched == request["write"]:
                os.kill(os.getpid(), signal.SIGKILL)

    from relscape.cli import main

    output = os.open(f"{folder}.out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    code = 1
    try:
        exec(request["prepare"], {})
        sys.addaudithook(watch)
        main.run(request["arguments"])
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(told, str(touched).encode())
        os._exit(code)


def _serve() -> None:
    import importlib

    for module in (
        "numpy",
        "scipy.sparse",
        "pyarrow.parquet",
        "duckdb",
        "numba",
        "sklearn",
        "matplotlib.figure",
    ):
        importlib.import_module(module)
    importlib.import_module("relscape.cli.main")
    answers = sys.stdout
    for line in sys.stdin:
        request = json.loads(line)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            _perform(request, write)
        os.close(write)
        print(json.dumps({"process": child}), file=answers, flush=True)
        begun = time.perf_counter()
        with os.fdopen(read) as stream:
            told = stream.read()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output = Path(f"{request['folder']}.out").read_text(errors="replace")
        seconds = time.perf_counter() - begun
        answer = {"code": status, "output": output, "touched": int(told or 0), "seconds": seconds}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    _serve()
