"""What there is of a published map in a database: tables, how coordinates are stored, the last version."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from relscape.errors import ParameterError, StorageError
from relscape.postgres import identifier

if TYPE_CHECKING:
    from relscape.maps.map import Map

__all__ = ["MARK", "State", "Storage", "Target", "state_of", "storage_of"]

MARK = "relscape map"  # begins the comments on tables that are ours
_LONGEST_NAME = 63  # bytes, in PostgreSQL
_MOST_INDEXED, _MOST_IN_VECTOR = 2_000, 16_000  # dimensions, in pgvector

_STATE = """
SELECT obj_description(c.oid, 'pg_class'),
  (SELECT format_type(a.atttypid, a.atttypmod) FROM pg_attribute AS a
   WHERE a.attrelid = c.oid AND a.attname = 'coordinates' AND NOT a.attisdropped)
FROM pg_class AS c WHERE c.oid = to_regclass($1)
"""
_EXTENSION = """
SELECT n.nspname::text FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace
WHERE e.extname = 'vector'
"""
_INDEXES = "SELECT indexname::text FROM pg_indexes WHERE schemaname = $1 AND tablename = $2"


@dataclass(frozen=True)
class Target:
    """The two tables of a publication, as SQL names them."""

    schema: str
    name: str

    def __post_init__(self) -> None:
        for what, text, more in (("schema", self.schema, ""), ("name", self.name, "_versions")):
            if not text.strip() or "\0" in text:
                raise ParameterError(f"the {what} {text!r} cannot be one in a database; give it letters.")
            room = _LONGEST_NAME - len(more)
            if len(text.encode()) > room:
                raise ParameterError(
                    f"the {what} {text!r} is longer than {room} bytes, which is what PostgreSQL has room for."
                )

    @property
    def points(self) -> str:
        """The table of things and where they are."""
        return identifier(self.schema, f"{self.name}_points")

    @property
    def versions(self) -> str:
        """The table of publications."""
        return identifier(self.schema, f"{self.name}_versions")

    @property
    def _near(self) -> str:
        return f"{self.name.encode()[:40].decode(errors='ignore')}_near_"

    def index(self, kind: str) -> str:
        """Name the index of a kind, whatever letters that has and however long it or the map's name is."""
        return self._near + hashlib.sha256(f"{self.name}\0{kind}".encode()).hexdigest()[:12]

    def indexes(self, cursor: Any) -> set[str]:
        """Find the indexes for neighbours that there are of the table of points."""
        cursor.execute(_INDEXES, (self.schema, f"{self.name}_points"))
        ours = re.compile(re.escape(self._near) + "[0-9a-f]{12}")
        return {name for (name,) in cursor.fetchall() if ours.fullmatch(name)}


@dataclass(frozen=True)
class Storage:
    """How coordinates are stored: their type, and the schema of pgvector where it is used."""

    type: str
    extension: str | None = None
    indexed: bool = False

    @property
    def sql(self) -> str:
        """The type with its schema, which need not be in the search path."""
        return f"{identifier(self.extension)}.{self.type}" if self.extension else self.type


@dataclass(frozen=True)
class State:
    """Whether there is the schema, and what of an earlier publication; version 0 where there is none."""

    schema: bool
    type: str | None = None
    version: int = 0
    fingerprint: str | None = None


def storage_of(map_: Map, cursor: Any) -> Storage:
    """Choose how to store coordinates: as pgvector has them, where it is and has room."""
    cursor.execute(_EXTENSION)
    found = cursor.fetchone()
    if found is None or map_.n_components > _MOST_IN_VECTOR:
        return Storage("real[]")
    return Storage(f"vector({map_.n_components})", found[0], map_.n_components <= _MOST_INDEXED)


def state_of(target: Target, cursor: Any) -> State:
    """Look at what is there; tables that are not of an earlier publication are refused."""
    cursor.execute("SELECT to_regnamespace($1) IS NOT NULL", (identifier(target.schema),))
    schema = bool(cursor.fetchone()[0])
    types = []
    for table in (target.points, target.versions):
        cursor.execute(_STATE, (table,))
        row = cursor.fetchone()
        if row is not None and not str(row[0] or "").startswith(MARK):
            raise StorageError(
                f"there is a table {table} already, which is not of a published map. Choose another name "
                "(--name) or schema (--schema), or move it away."
            )
        types.append(None if row is None else str(row[1] or "").rpartition(".")[2] or "versions")
    if types[1] is None:
        return State(schema, types[0])
    cursor.execute(f"SELECT version, fingerprint FROM {target.versions} ORDER BY version DESC LIMIT 1")
    last = cursor.fetchone()
    return State(schema, types[0]) if last is None else State(schema, types[0], *last)
