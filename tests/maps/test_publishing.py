"""Maps in PostgreSQL: what is published, that nothing is half-published, and that it is asked as a map is."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import relscape as rs
from relscape.errors import DataError, ParameterError, StorageError
from relscape.maps import Group, Map

# names that would break SQL which is not quoted
GUESTS, DISHES = "gu'est\"; DROP TABLE x; --", "dish\\"


def made(shift=0.0, dimensions=3, n=40):
    rng = np.random.default_rng(1)
    ids = np.array([f'it\'s "{k}" $1' for k in range(n)], dtype=object)
    fields = {"na'me": np.array(["a", None] * (n // 2), dtype=object), "size": np.linspace(0, 1, n)}
    fields["size"][3] = np.nan
    guests = Group(GUESTS, ids, rng.normal(size=(n, dimensions)) + shift, fields=fields)
    dishes = Group(DISHES, ids[: n // 2], rng.normal(size=(n // 2, dimensions)))
    return Map([guests, dishes], model="by hand", scores={"loss": 0.5})


@pytest.fixture(scope="module")
def vectors(postgres):
    return (
        postgres,
        "vectors",
        postgres.database("vectors", "CREATE SCHEMA tools", "CREATE EXTENSION vector SCHEMA tools"),
    )


@pytest.fixture(scope="module")
def arrays(postgres):
    return postgres, "arrays", postgres.database("arrays")


@pytest.fixture(params=["vectors", "arrays"])
def either(request):
    return request.getfixturevalue(request.param)


def rows_of(server, database, table):
    return server.run(
        f"SELECT kind, id, label, x, y, fields::text FROM {table} ORDER BY 1, 2", database=database
    )


def test_what_is_published_is_the_map(either):
    server, database, address = either
    joint = made()
    done = joint.publish(address, 'my "map"', schema="a schema")
    assert (done.version, done.changed, done.points) == (1, True, '"a schema"."my ""map""_points"')
    assert done.coordinates == ("vector(3)" if database == "vectors" else "real[]")
    assert "s3cr3t" not in repr(done)
    stored = server.run(
        f"SELECT kind, id, coordinates::real[]::text, fields->>'size' FROM {done.points}", database=database
    )
    assert len(stored) == len(joint)
    for kind, name, coordinates, size in stored:
        group = joint.group(kind)
        at = group.places[name]
        given = np.array(coordinates.strip("{}").split(","), dtype=float)
        np.testing.assert_allclose(given, group.coordinates[at], rtol=1e-6)
        if kind == GUESTS:
            assert (size is None) == (at == 3)
    [(version, kinds)] = server.run(f"SELECT version, kinds::text FROM {done.versions}", database=database)
    assert version == 1 and "40" in kinds
    again = joint.publish(address, 'my "map"', schema="a schema")
    assert (again.changed, again.version, again.statements) == (False, 1, ())


def test_the_query_finds_what_the_map_finds(either):
    server, database, address = either
    joint = made()
    done = joint.publish(address, "asked")
    found = server.run(done.query.rstrip(";"), database=database)
    near = joint.neighbors((GUESTS, joint.group(GUESTS).ids[0]), among=DISHES, k=10)
    assert [name for name, _, _ in found] == [n.id for n in near]
    np.testing.assert_allclose([distance for *_, distance in found], [n.distance for n in near], rtol=1e-5)


def test_an_index_serves_the_query(vectors):
    server, database, address = vectors
    done = made(n=400).publish(address, "indexed")
    assert done.indexed
    plan = server.run(
        "SET enable_seqscan = off", "SET enable_sort = off",
        "SET enable_bitmapscan = off", f"EXPLAIN {done.query.rstrip(';')}",
        database=database,
    )  # fmt: skip
    assert any("indexed_near_" in line for (line,) in plan), plan


def test_a_changed_map_replaces_the_earlier_one(either):
    server, database, address = either
    made().publish(address, "changing")
    server.run("CREATE VIEW seen AS SELECT id FROM changing_points", database=database)
    fewer = made(shift=1.0).select(GUESTS, np.arange(30))
    done = fewer.publish(address, "changing")
    assert (done.version, done.changed) == (2, True)
    assert len(rows_of(server, database, "changing_points")) == 50
    found = server.run("SELECT count(*) FROM seen", database=database)
    assert found == [(50,)]  # what others built on it stands
    plane = made(dimensions=2).publish(address, "changing")
    assert (plane.version, plane.indexed) == (3, database == "vectors")
    kinds = Map([made().group(GUESTS)]).publish(address, "changing")
    assert len(rows_of(server, database, "changing_points")) == 40
    indexes = server.run(
        "SELECT indexname::text FROM pg_indexes WHERE tablename = 'changing_points'", database=database
    )
    assert len([name for (name,) in indexes if "_near_" in name]) == (database == "vectors")
    assert [
        v for (v,) in server.run("SELECT version FROM changing_versions ORDER BY 1", database=database)
    ] == [1, 2, 3, 4]
    assert kinds.version == 4


def test_another_number_of_dimensions_keeps_what_was_granted(vectors):
    server, database, address = vectors
    made().publish(address, "wider")
    server.run("GRANT SELECT ON wider_points TO PUBLIC", database=database)
    server.run("CREATE VIEW drawn AS SELECT coordinates FROM wider_points", database=database)
    state = (
        "SELECT relacl::text, format_type(atttypid, atttypmod) FROM pg_class JOIN pg_attribute ON attrelid = "
    )
    state += "pg_class.oid WHERE relname = 'wider_points' AND attname = 'coordinates'"
    [(granted, before)] = server.run(state, database=database)
    with pytest.raises(StorageError, match=r"used by a view.*Drop the view first"):
        made(dimensions=5).publish(address, "wider")
    assert server.run(state, database=database) == [(granted, before)]
    server.run("DROP VIEW drawn", database=database)
    plan = made(dimensions=5).publish(address, "wider", dry_run=True)
    done = made(dimensions=5).publish(address, "wider")
    assert done.statements == plan.statements
    assert server.run(state, database=database) == [(granted, "tools.vector(5)")]
    near = made(dimensions=5).neighbors((GUESTS, made().group(GUESTS).ids[0]), among=DISHES, k=10)
    found = server.run(done.query.rstrip(";"), database=database)
    assert [name for name, *_ in found] == [n.id for n in near]


def test_rows_that_are_the_same_are_not_touched(arrays):
    server, database, address = arrays
    made().publish(address, "steady")
    before = dict(server.run("SELECT kind || id, ctid::text FROM steady_points", database=database))
    joint = made()
    guests = joint.group(GUESTS)
    moved = guests.coordinates.copy()
    moved[0] += 1
    changed = [dataclasses.replace(guests, coordinates=moved), joint.group(DISHES)]
    joint.with_groups(changed).publish(address, "steady")
    after = dict(server.run("SELECT kind || id, ctid::text FROM steady_points", database=database))
    assert [key for key in before if before[key] != after[key]] == [GUESTS + guests.ids[0]]


def test_a_dry_run_changes_nothing(either):
    server, database, address = either
    plan = made().publish(address, "planned", schema="later", dry_run=True)
    assert plan.changed and plan.statements[0] == 'CREATE SCHEMA "later"'
    assert server.run("SELECT to_regnamespace('later')::text", database=database) == [(None,)]
    done = made().publish(address, "planned", schema="later")
    assert done.statements == plan.statements
    assert made().publish(address, "planned", schema="later", dry_run=True).changed is False


def test_nothing_is_half_published(either):
    server, database, address = either
    made().publish(address, "whole")
    before = rows_of(server, database, "whole_points")
    # the last statement of a publication fails: all that went before is undone
    server.run("ALTER TABLE whole_versions ADD CHECK (version < 2)", database=database)
    with pytest.raises(StorageError, match="violates check constraint"):
        made(shift=2.0).publish(address, "whole")
    assert rows_of(server, database, "whole_points") == before
    assert server.run("SELECT count(*) FROM whole_versions", database=database) == [(1,)]
    server.run("CREATE TABLE none_versions (version integer)", database=database)
    with pytest.raises(StorageError, match="not of a published map"):
        made().publish(address, "none")
    assert server.run("SELECT to_regclass('none_points')::text", database=database) == [(None,)]


def test_a_connection_lost_while_publishing(arrays):
    server, database, address = arrays
    made().publish(address, "kept")
    before = rows_of(server, database, "kept_points")
    server.run(
        "CREATE FUNCTION dying() RETURNS trigger LANGUAGE plpgsql AS "
        "'begin perform pg_terminate_backend(pg_backend_pid()); return new; end'",
        "CREATE TRIGGER dies BEFORE UPDATE ON kept_points FOR EACH ROW EXECUTE FUNCTION dying()",
        database=database,
    )
    with pytest.raises(StorageError, match=r"was lost: .* Nothing was kept; try again"):
        made(shift=2.0).publish(address, "kept")
    assert rows_of(server, database, "kept_points") == before


def test_what_cannot_be_published(arrays):
    address = arrays[2]
    with pytest.raises(StorageError, match="there is a table"):
        arrays[0].run("CREATE TABLE taken_points (a integer)", database="arrays")
        made().publish(address, "taken")
    with pytest.raises(ParameterError, match="longer than"):
        made().publish(address, "x" * 60)
    with pytest.raises(ParameterError, match="give it letters"):
        made().publish(address, " ")
    with pytest.raises(ParameterError, match="without a table"):
        made().publish(f"{address}#table", "x")
    with pytest.raises(ParameterError, match="postgresql://"):
        made().publish("map.db", "x")
    with pytest.raises(DataError, match="zero character"):
        Map([Group("a", np.array(["b\0c"], dtype=object), np.zeros((1, 2)))]).publish(address, "x")
    with pytest.raises(DataError, match="finite"):
        Map([Group("a", np.array(["b"], dtype=object), np.full((1, 2), 1e300))]).publish(address, "x")


def test_a_server_without_pgvector(plain_postgres):
    address = plain_postgres.database("plain")
    joint = rs.CorrespondenceAnalysis().fit(rs.datasets.load_smoking()).to_map()
    done = joint.publish(address, "smoking")
    assert (done.coordinates, done.indexed) == ("real[]", False)
    found = plain_postgres.run(done.query.rstrip(";"), database="plain")
    first, last = joint.groups
    assert [name for name, *_ in found] == [
        n.id for n in joint.neighbors((first, joint.group(first).ids[0]), last)
    ]
    same = rs.read(f"{address}#select kind, id from smoking_points", rows="kind", columns="id")
    assert same.matrix().sum() == len(joint)
