"""Opening the explorer: an address, a server in the background, and a browser that looks at it."""

from __future__ import annotations

import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from relscape.errors import ParameterError, StorageError
from relscape.explorer.exhibit import Exhibit
from relscape.explorer.page import load_page
from relscape.explorer.security import Address, new_token
from relscape.explorer.server import make_app

__all__ = ["HOST", "Explorer", "open_explorer"]

HOST = "127.0.0.1"
USUAL_PORT = 8765
_LAST_PORT = 65_535
_PATIENCE = 2  # seconds for answers under way when the server stops
_BACKLOG = 512


class Explorer:
    """A running explorer: ``url`` is where to look, ``stop()`` ends it.

    It stops with ``with open_explorer(...) as explorer:`` at the end of the block, and with the program.
    """

    def __init__(self, url: str, server: Any, listener: socket.socket) -> None:
        self.url = url
        self._server = server
        self._thread = threading.Thread(
            target=server.run, kwargs={"sockets": [listener]}, daemon=True, name="relscape-explorer"
        )
        self._thread.start()

    def wait(self) -> None:
        """Serve until a person presses Ctrl-C, then stop."""
        try:
            while self._thread.is_alive():
                self._thread.join(0.5)
        except KeyboardInterrupt:
            with suppress(KeyboardInterrupt):  # which some press, and some programs send, twice
                self.stop()

    def stop(self) -> None:
        """End the server; answers under way have two seconds."""
        self._server.should_exit = True
        self._thread.join(2 * _PATIENCE)

    def __enter__(self) -> Explorer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Explorer at {self.url}>" if self._thread.is_alive() else "<Explorer, stopped>"


def open_explorer(
    exhibits: Sequence[Exhibit],
    host: str = HOST,
    port: int | None = None,
    browser: bool = True,
    page: Path | None = None,
) -> Explorer:
    """Serve one map, or two to compare, and open a browser.

    Parameters
    ----------
    exhibits : sequence of Exhibit
        One or two.
    host : str
        The address to listen at. At any but this machine's own, 127.0.0.1, the page can be opened only with
        the random token that its address then has.
    port : int, optional
        8765 unless given, or any other that is free.
    browser : bool
        Whether to open a browser, where there is a screen.
    page : Path, optional
        The folder of the built page, where it is not the package's own.
    """
    import uvicorn

    built = load_page(page)
    listener, address = _listen(host, port)
    try:
        token = None if address.loopback else new_token()
        config = uvicorn.Config(
            make_app(exhibits, built, address, token),
            http="h11",
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_PATIENCE,
        )
    except BaseException:
        listener.close()
        raise
    explorer = Explorer(address.url(token), uvicorn.Server(config), listener)
    if browser and _has_screen():
        webbrowser.open(explorer.url)
    return explorer


def _listen(host: str, port: int | None) -> tuple[socket.socket, Address]:
    """Take the port that was asked for, or the usual one, or any."""
    if port is not None and not 0 <= port <= _LAST_PORT:
        raise ParameterError(f"port={port}: give a number from 0 to {_LAST_PORT}; 0 takes any that is free.")
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ParameterError(f"host={host!r} is no address of this machine ({error}).") from error
    family, _, _, _, place = found[0]
    bound = str(place[0])
    if port is None:
        try:
            return _bind(family, host, bound, USUAL_PORT)
        except OSError:
            port = 0
    try:
        return _bind(family, host, bound, port)
    except OSError as error:
        raise StorageError(
            f"cannot listen at {host}, port {port}: {error.strerror or error}. Choose another port, or leave "
            "it out."
        ) from error


def _bind(family: int, host: str, bound: str, port: int) -> tuple[socket.socket, Address]:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((bound, port))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener, Address(host, bound, int(listener.getsockname()[1]))


def _has_screen() -> bool:
    """Tell whether a browser can be shown; on a terminal without a screen, one in text would come up."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
