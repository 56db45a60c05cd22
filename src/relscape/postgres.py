"""The way to a PostgreSQL server: addresses that show no secrets, connections, errors in plain words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, unquote

from relscape.errors import DataError, MissingExtraError, ParameterError, RelscapeError, StorageError

__all__ = ["Address", "connected", "identifier", "is_address", "literal", "misunderstood", "without_secrets"]

_SCHEME = re.compile(r"postgres(?:ql)?://")
_HOST = r"(?:\[[^\]\s]*\]|[^:/?#@,\[\]\s]*)(?::\d*)?"
_ADDRESS = re.compile(
    r"postgres(?:ql)?://(?:(?P<user>[^:/?#@\s]*)(?::(?P<password>[^/?#@\s]*))?@)?"
    rf"(?P<hosts>{_HOST}(?:,{_HOST})*)"
    r"(?:/(?P<database>[^/?#@\s]*))?(?:\?(?P<options>[^#\s]*))?"
)
_SECRET_OPTIONS = ("password", "sslpassword")
_SECONDS_TO_CONNECT = 15
_IN_PRINT = (
    (re.compile(r"(postgres(?:ql)?:/{1,2}[^\s\"':/@]*):[^\s\"'/]*@"), r"\1:***@"),
    (re.compile(r"([?&](?:ssl)?password=)[^\s\"'&#]+"), r"\1***"),
)
_LOST = re.compile(
    r"server closed the connection|terminating connection|no connection to the server|SSL SYSCALL|"
    r"could not (receive|send) data|connection not open"
)


def is_address(text: str) -> bool:
    """Tell whether a text means a PostgreSQL database."""
    return _SCHEME.match(text) is not None


def without_secrets(text: str) -> str:
    """Blot out the passwords of all addresses in a text.

    >>> without_secrets("relscape publish map postgresql://ada:lovelace@host/db")
    'relscape publish map postgresql://ada:***@host/db'
    """
    for pattern, shown in _IN_PRINT:
        text = pattern.sub(shown, text)
    return text


def identifier(*names: str) -> str:
    """Quote a name for SQL, or a schema and a name.

    >>> identifier("public", 'my "best" map')
    '"public"."my ""best"" map"'
    """
    if any("\0" in name or not name for name in names):
        raise ParameterError(f"{names[-1]!r} cannot be a name in a database: it is empty or holds a zero.")
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def literal(text: str) -> str:
    """Quote a text for SQL where no parameter can stand; needs standard_conforming_strings, as is usual.

    >>> literal("rock 'n' roll")
    "'rock ''n'' roll'"
    """
    if "\0" in text:
        raise ParameterError(f"{text!r} holds a zero character, which PostgreSQL cannot store.")
    return "'" + text.replace("'", "''") + "'"


def misunderstood() -> ParameterError:
    """Refuse an address that cannot be taken apart, without showing it: the password may be at fault."""
    return ParameterError(
        "the address of the PostgreSQL database cannot be understood; expected "
        "postgresql://user@host:5432/database#schema.table. In a password, write @ as %40, : as %3A, "
        "/ as %2F, # as %23 and % as %25, or leave it out and set PGPASSWORD."
    )


@dataclass(frozen=True, repr=False)
class Address:
    """Where a database is. What is printed of it has neither password nor options.

    Whatever the address leaves out comes from where libpq looks: PGHOST, PGUSER, PGPASSWORD and their like,
    ``~/.pgpass``, and a service file.
    """

    uri: str

    def __post_init__(self) -> None:
        if _ADDRESS.fullmatch(self.uri) is None:
            raise misunderstood()

    @cached_property
    def _parts(self) -> dict[str, str]:
        found = _ADDRESS.fullmatch(self.uri)
        assert found is not None
        return {name: value or "" for name, value in found.groupdict().items()}

    @cached_property
    def _options(self) -> dict[str, str]:
        return dict(parse_qsl(self._parts["options"], keep_blank_values=True))

    @property
    def database(self) -> str:
        """The name of the database, empty where the address leaves it to the environment."""
        return unquote(self._parts["database"]) or self._options.get("dbname", "")

    @property
    def public(self) -> str:
        """The address without user, password and options: what may be stored with a map."""
        database = f"/{self._parts['database']}" if self._parts["database"] else ""
        return f"postgresql://{self._parts['hosts']}{database}"

    def __str__(self) -> str:
        user = f"{self._parts['user']}@" if self._parts["user"] else ""
        return self.public.replace("postgresql://", f"postgresql://{user}", 1)

    def __repr__(self) -> str:
        return f"<Address {self}>"

    def blotted(self, text: str) -> str:
        """Blot out what is secret in the address wherever it stands in a text."""
        given = {self._parts["password"], *(self._options.get(name, "") for name in _SECRET_OPTIONS)}
        for secret in sorted({*given, *map(unquote, given)} - {""}, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text

    def with_defaults(self) -> str:
        """Give the address to connect to: UTF-8, our name for the server's lists, and a limit to waiting."""
        wanted = {"client_encoding": "UTF8", "fallback_application_name": "relscape"}
        if "PGCONNECT_TIMEOUT" not in os.environ:
            wanted["connect_timeout"] = str(_SECONDS_TO_CONNECT)
        added = "&".join(f"{key}={value}" for key, value in wanted.items() if key not in self._options)
        return f"{self.uri}{'&' if '?' in self.uri else '?'}{added}" if added else self.uri


@contextmanager
def connected(address: Address, read_only: bool = False) -> Iterator[Any]:
    """Open a connection, in one transaction that is undone unless it is committed.

    What the driver complains of is raised as an error of ours.
    """
    try:
        import adbc_driver_postgresql.dbapi as driver
    except ImportError as error:
        raise MissingExtraError("adbc-driver-postgresql", "postgres", "PostgreSQL") from error
    try:
        connection = driver.connect(address.with_defaults())
    except driver.Error as error:
        raise StorageError(_no_connection(address, str(error))) from None
    try:
        if read_only:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION READ ONLY")
        yield connection
    except RelscapeError:
        raise
    except (driver.Error, ValueError, OSError) as error:  # while rows stream, Arrow raises errors of its own
        if not isinstance(error, driver.Error) and "libpq" not in str(error):
            raise
        raise _explained(address, error) from None
    finally:
        with suppress(driver.Error):  # a lost connection cannot be closed in order
            connection.close()


def _message(text: str) -> str:
    """Take the server's own words out of what the driver says."""
    found = re.search(r"(?:ERROR|FATAL|PANIC):\s+(.*)", text)
    said = found[1] if found else re.sub(r"^[A-Z_]+: (\[libpq\] )?(Failed to connect: )?", "", text.strip())
    return said.strip().splitlines()[0].rstrip(".") if said.strip() else "no reason is given"


def _no_connection(address: Address, text: str) -> str:
    reason = address.blotted(_message(text))
    if "Connection refused" in text or "No such file or directory" in text:
        remedy = "Nothing answers there: is the server running, and are host and port right?"
    elif "password" in text or "authentication" in text or "pg_hba" in text:
        remedy = "Check the user, and give the password by PGPASSWORD or ~/.pgpass."
    elif "could not translate host name" in text:
        remedy = "Check the name of the host."
    elif "timeout expired" in text:
        remedy = "Check host, port and firewall."
    else:
        remedy = "Check the address."
    return f"cannot connect to {address}: {reason}. {remedy}"


def _explained(address: Address, error: Exception) -> RelscapeError:
    """Turn an error of the driver into one of ours."""
    text, state = address.blotted(str(error)), getattr(error, "sqlstate", None) or ""
    reason = _message(text)
    if state.startswith("08") or state in ("57P01", "57P02") or _LOST.search(text):
        return StorageError(f"the connection to {address} was lost: {reason}. Nothing was kept; try again.")
    if state == "25006" or "read-only transaction" in text:
        return ParameterError(f"{address}: only queries that read are allowed here, but {reason}.")
    if state == "42501":
        return StorageError(f"{address}: {reason}. Ask its owner to grant that to your user.")
    if "used by a view" in text:
        return StorageError(f"{address}: {reason}. Drop the view first, and make it again afterwards.")
    if state == "57014":
        return StorageError(f"{address}: the server stopped the work: {reason}.")
    if state[:2] in ("42", "22", "21") or not state:
        return DataError(f"{address} refuses the query: {reason}.")
    return StorageError(f"{address}: {reason}.")
