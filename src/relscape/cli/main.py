"""The ``relscape`` command: one message for a person's mistake, never a traceback."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, Any

import typer

from relscape import __version__, progress
from relscape.cli.commands import Commands
from relscape.cli.console import Bars, StoppedError, complain
from relscape.errors import RelscapeError, RelscapeWarning
from relscape.threads import lacks_threads

__all__ = ["app", "run"]

_STOPPED = 130
_OUT_OF_MEMORY = "out of memory; use a machine with more, a smaller table, or fewer dimensions."
_LAST_WORDS = f"error: {_OUT_OF_MEMORY}\n".encode()  # made in time

# Typer may bring a copy of click; the base of its complaints about usage is found through its own names.
_UsageMistake: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")

app = typer.Typer(
    name="relscape",
    cls=Commands,
    help="Put things of different kinds on one map, given only how they relate.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"relscape {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Hold the options of the command itself."""


def run(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 bad input, 130 stopped by the user."""
    try:
        code = _run(arguments)
    except MemoryError:  # not even for a message in colours is there enough
        os.write(2, _LAST_WORDS)
        code = 1
    sys.exit(code)


def _run(arguments: list[str] | None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a label may not fit a terminal's encoding
    try:
        with progress.reporting(Bars()):
            code = int(app(args=arguments, prog_name="relscape", standalone_mode=False) or 0)
        if code != _STOPPED:
            return code
        raise KeyboardInterrupt  # Typer may turn one into this exit code without a word
    except (RelscapeError, RelscapeWarning) as error:
        complain(str(error))
    except _UsageMistake as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            return 0
        complain(f"{error.format_message()} (see '{_command(error)} --help')")
    except OSError as error:
        complain(f"{error.strerror or error}: {error.filename or 'a file or directory'}.")
    except StoppedError as stop:
        complain(str(stop))
        return _STOPPED
    except (KeyboardInterrupt, typer.Abort):
        complain("stopped; what was saved before is whole.")
        return _STOPPED
    except Exception as error:
        shortage = _shortage(error)
        if shortage:
            complain(shortage)
            return 1
        if os.environ.get("RELSCAPE_DEBUG"):
            raise
        complain(
            f"this is a bug in relscape ({type(error).__name__}: {error}). What was saved before is whole. "
            "Please report it with what the same command prints under RELSCAPE_DEBUG=1."
        )
    return 1


def _shortage(error: Exception) -> str | None:
    """Tell whether memory was short, be it for a library that could not even be loaded, or threads."""
    told = str(error).lower()
    if isinstance(error, RuntimeError | MemoryError) and lacks_threads(error):
        return "no thread can be started: memory or the number of processes is limited (see 'ulimit -a')."
    if isinstance(error, ImportError):
        short = "failed to map segment" in told or "cannot allocate memory" in told
    else:
        short = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException"  # DuckDB's
    return _OUT_OF_MEMORY if short else None


def _command(error: Any) -> str:
    """Name the command whose usage was mistaken, such as ``relscape cohorts``."""
    context = getattr(error, "ctx", None)
    return "relscape" if context is None else str(context.command_path)
