"""A map in PostgreSQL: its points and its versions as two tables, replaced in one transaction.

::

    NAME_points     kind, id, label, coordinates, x, y, fields; one row a thing
    NAME_versions   one row a publication: version, fingerprint, model, parameters, scores, provenance

Coordinates are of pgvector's type ``vector`` where that extension is, with an index for the neighbours among
each kind, and ``real[]`` elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from relscape.errors import ParameterError
from relscape.maps.published_rows import as_reader, header_of, row_batches
from relscape.maps.published_state import (
    MARK,
    State,
    Storage,
    Target,
    state_of,
    storage_of,
)
from relscape.postgres import Address, connected, identifier, is_address, literal

if TYPE_CHECKING:
    from relscape.maps.map import Map

__all__ = ["Publication", "publish_map"]

_STAGED = "relscape_staged"

_FIND = "SELECT set_config('search_path', current_setting('search_path') || ', ' || $1, true)"
_COLUMNS = "kind, id, label, coordinates, x, y, fields"
_CHANGING = ("label", "coordinates", "x", "y", "fields")


@dataclass(frozen=True)
class Publication:
    """What was published: where, as which version, and how to ask it.

    ``changed`` is False where the same was there already; ``statements`` are those that were run, or with a
    dry run those that would be. ``query`` asks for the neighbours of one thing among those of another kind.
    """

    address: str
    points: str
    versions: str
    version: int
    fingerprint: str
    changed: bool
    coordinates: str
    indexed: bool
    query: str
    statements: tuple[str, ...] = field(repr=False)


def publish_map(
    map_: Map, address: str, name: str, schema: str = "public", dry_run: bool = False
) -> Publication:
    """Create or replace the tables of a map in a PostgreSQL database, all in one transaction.

    Parameters
    ----------
    map_ : Map
        What to publish.
    address : str
        ``postgresql://host/database``; what it leaves out comes from PGUSER, PGPASSWORD, ``~/.pgpass`` and
        the like.
    name : str
        What the tables are called, ``NAME_points`` and ``NAME_versions``. Tables of these names that are
        not of an earlier publication are refused.
    schema : str
        Where the tables are; made where there is none of that name.
    dry_run : bool
        Look at the database, and say what would be done, without doing it.

    Returns
    -------
    Publication
        Where it is. Publishing the same map again changes nothing.
    """
    if not is_address(address) or "#" in address:
        raise ParameterError("a map is published to postgresql://host/database, without a table after #.")
    target = Target(schema, name)
    place = Address(address)
    with connected(place, read_only=dry_run) as connection, connection.cursor() as cursor:
        work = _Work(cursor, dry_run)
        if not dry_run:  # publications of one name wait for each other
            cursor.execute("SET LOCAL standard_conforming_strings = on")
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", (target.points,))
        kind = storage_of(map_, cursor)
        if kind.extension is not None and not dry_run:  # its operators have to be found
            cursor.execute(_FIND, (identifier(kind.extension),))
        state = state_of(target, cursor)
        fingerprint = _fingerprint(map_, kind.type)
        changed = state.fingerprint != fingerprint or state.type != kind.type
        version = state.version + changed
        if changed:
            _replace(map_, target, kind, state, work)
            _record(map_, target, version, fingerprint, work)
            if not dry_run:
                connection.commit()
    query = neighbour_query(map_, target.points, kind.extension)
    return Publication(
        str(place), target.points, target.versions, version, fingerprint, changed, kind.type, kind.indexed,
        query,
        tuple(work.statements),
    )  # fmt: skip


class _Work:
    """Runs statements and keeps them; in a dry run it only keeps them."""

    def __init__(self, cursor: Any, dry_run: bool) -> None:
        self.cursor = cursor
        self.dry_run = dry_run
        self.statements: list[str] = []

    def run(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        self.statements.append(sql)
        if not self.dry_run:
            self.cursor.execute(sql, tuple(parameters) or None)

    def load(self, rows: Any, count: int) -> None:
        self.statements.append(f"COPY {_STAGED} FROM STDIN /* {count:,} rows */")
        if not self.dry_run:
            self.cursor.adbc_ingest(_STAGED, rows, mode="append", temporary=True)


def _fingerprint(map_: Map, type_: str) -> str:
    """Digest all that is stored: the rows, what the map says of itself, and the type of coordinates."""
    digest = hashlib.sha256(json.dumps([type_, header_of(map_)], sort_keys=True).encode())
    for batch in row_batches(map_):
        for column in ("kind", "id", "label", "fields"):
            digest.update("\0".join([*batch.column(column).to_pylist(), ""]).encode())
        for numbers in (batch.column("coordinates").flatten(), batch.column("x"), batch.column("y")):
            digest.update(numbers.to_numpy().astype("<f4").data)
    return digest.hexdigest()


def _replace(map_: Map, target: Target, kind: Storage, state: State, work: _Work) -> None:
    """Bring the points to what the map has; rows that are the same already are not touched."""
    if not state.schema:
        work.run(f"CREATE SCHEMA {identifier(target.schema)}")
    changed = state.type not in (None, kind.type)
    indexes = {target.index(name): name for name in map_.groups} if kind.indexed else {}
    for name in sorted(target.indexes(work.cursor) - (set() if changed else indexes.keys())):
        work.run(f"DROP INDEX {identifier(target.schema, name)}")
    if changed:  # the table itself stays, with its grants and what was built on its other columns
        work.run(
            f"ALTER TABLE {target.points} ALTER COLUMN coordinates TYPE {kind.sql} "
            f"USING array_fill(0::real, ARRAY[{map_.n_components}])::{kind.sql}"
        )
    work.run(
        f"CREATE TABLE IF NOT EXISTS {target.points} (kind text NOT NULL, id text NOT NULL, "
        f"label text NOT NULL, coordinates {kind.sql} NOT NULL, x real, y real, fields jsonb NOT NULL, "
        "PRIMARY KEY (kind, id))"
    )
    work.run(
        f"CREATE TEMP TABLE {_STAGED} (kind text, id text, label text, coordinates real[], x real, y real, "
        "fields text) ON COMMIT DROP"
    )
    work.load(as_reader(map_), len(map_))
    work.run(
        f"DELETE FROM {target.points} AS old WHERE NOT EXISTS (SELECT 1 FROM {_STAGED} AS new "
        "WHERE new.kind = old.kind AND new.id = old.id)"
    )
    old = ", ".join(f"old.{column}" for column in _CHANGING)
    new = ", ".join(f"excluded.{column}" for column in _CHANGING)
    changes = ", ".join(f"{column} = excluded.{column}" for column in _CHANGING)
    work.run(
        f"INSERT INTO {target.points} AS old ({_COLUMNS}) SELECT kind, id, label, "
        f"coordinates::{kind.sql}, x, y, fields::jsonb FROM {_STAGED} ON CONFLICT (kind, id) "
        f"DO UPDATE SET {changes} WHERE ({old}) IS DISTINCT FROM ({new})"
    )
    for name, things in indexes.items():
        work.run(
            f"CREATE INDEX IF NOT EXISTS {identifier(name)} ON {target.points} USING hnsw "
            f"(coordinates {identifier(str(kind.extension), 'vector_l2_ops')}) WHERE kind = {literal(things)}"
        )
    work.run(f"COMMENT ON TABLE {target.points} IS {literal(f'{MARK}: points')}")


def _record(map_: Map, target: Target, version: int, fingerprint: str, work: _Work) -> None:
    """Add the row that says what this version is."""
    work.run(
        f"CREATE TABLE IF NOT EXISTS {target.versions} (version integer PRIMARY KEY, "
        "fingerprint text NOT NULL, published_at timestamptz NOT NULL DEFAULT now(), model text, "
        "dimensions integer, kinds jsonb, parameters jsonb, scores jsonb, provenance jsonb)"
    )
    work.run(f"COMMENT ON TABLE {target.versions} IS {literal(f'{MARK}: versions')}")
    header = header_of(map_)
    parts = [json.dumps(header[part]) for part in ("kinds", "parameters", "scores", "provenance")]
    work.run(
        f"INSERT INTO {target.versions} (version, fingerprint, model, dimensions, kinds, parameters, scores, "
        "provenance) VALUES ($1, $2, $3, $4, $5::text::jsonb, $6::text::jsonb, $7::text::jsonb, "
        "$8::text::jsonb)",
        (version, fingerprint, map_.model, map_.n_components, *parts),
    )


def neighbour_query(map_: Map, points: str, extension: str | None, k: int = 10) -> str:
    """Write a query for the things of the last kind that are nearest to the first thing of the first kind."""
    first, last = map_.group(map_.groups[0]), map_.groups[-1]
    operator = "<->" if extension == "public" else f"OPERATOR({identifier(extension or '-')}.<->)"
    distance = f"b.coordinates {operator} a.coordinates"
    if extension is None:
        distance = (
            "(SELECT sqrt(sum((u::float8 - v) ^ 2)) FROM unnest(a.coordinates, b.coordinates) AS axis(u, v))"
        )
    return (
        f"SELECT near.id, near.label, near.distance\nFROM {points} AS a CROSS JOIN LATERAL (\n"
        f"  SELECT b.id, b.label, {distance} AS distance\n  FROM {points} AS b "
        f"WHERE b.kind = {literal(last)}\n  ORDER BY distance LIMIT {k}\n) AS near\n"
        f"WHERE a.kind = {literal(first.kind)} AND a.id = {literal(str(first.ids[0]))};"
    )
