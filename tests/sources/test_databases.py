"""Tables of databases as sources: the same relation as from a file, and clear words when something fails."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import duckdb
import numpy as np
import pytest

import relscape as rs
from relscape.errors import (
    DataError,
    FormatError,
    ParameterError,
    RelscapeError,
    StorageError,
    UnknownNameError,
)
from relscape.postgres import Address, without_secrets
from relscape.sources.features import read_feature_table
from relscape.sources.references import database_of, located, public_name, shown, with_query
from relscape.sources.triples import read_facts

ROWS = [("d1", "cat", 3), ("d1", "dog", 1), ("d2", "dog", 4), ("d2", "fish", 1), ("d1", "cat", 2)]
VALUES = ", ".join(f"('{doc}', '{word}', {n})" for doc, word, n in ROWS)
HOW = {"rows": "doc", "columns": "word", "weight": "n"}


@pytest.fixture(scope="module")
def pg(postgres):
    address = postgres.database(
        "reading",
        "CREATE SCHEMA shop",
        "CREATE TABLE pairs (doc text, word text, n integer)",
        f"INSERT INTO pairs VALUES {VALUES}",
        'CREATE TABLE shop."odd ""name" AS SELECT * FROM pairs',
        "CREATE TABLE facts AS SELECT 'a' AS head, 'likes' AS relation, 'b' AS tail",
    )
    return address, postgres


@pytest.fixture
def files(tmp_path):
    (tmp_path / "pairs.csv").write_text("doc,word,n\n" + "".join(f"{d},{w},{n}\n" for d, w, n in ROWS))
    with sqlite3.connect(tmp_path / "all.db") as connection:
        connection.execute("CREATE TABLE pairs (doc, word, n)")
        connection.executemany("INSERT INTO pairs VALUES (?, ?, ?)", ROWS)
    connection.close()
    with duckdb.connect(str(tmp_path / "all.duckdb")) as connection:
        connection.execute(
            f"CREATE SCHEMA s; CREATE TABLE s.pairs AS FROM (VALUES {VALUES}) AS t(doc, word, n)"
        )
    return tmp_path


def same(data, other):
    assert data.kinds == other.kinds
    for kind in data.kinds:
        np.testing.assert_array_equal(data.entities[kind].ids, other.entities[kind].ids)
    np.testing.assert_array_equal(data.matrix().toarray(), other.matrix().toarray())


@pytest.mark.parametrize(
    "reference",
    [
        "all.db#pairs", "all.db", "sqlite:///all.db#pairs", "all.db#select doc, word, n from pairs;",
        "all.duckdb#s.pairs", "duckdb:///all.duckdb#s.pairs", 'all.duckdb#"s"."pairs"',
        "all.duckdb#with t as (from s.pairs) select * from t",
    ],
)  # fmt: skip
def test_files_of_databases_read_as_tables_do(files, monkeypatch, reference):
    monkeypatch.chdir(files)
    same(rs.read(reference, **HOW), rs.read("pairs.csv", **HOW))


@pytest.mark.parametrize("table", ["pairs", "public.pairs", 'shop."odd ""name"', "select * from pairs"])
def test_postgresql_reads_as_tables_do(files, pg, table):
    same(rs.read(f"{pg[0]}#{table}", **HOW), rs.read(files / "pairs.csv", **HOW))


def test_a_query_and_several_sources_at_once(files, pg):
    once = rs.read(pg[0], query="select word, doc, sum(n) as n from pairs group by 1, 2 -- by pair", **HOW)
    same(once, rs.read(files / "pairs.csv", **HOW))
    both = rs.read([files / "pairs.csv", f"{pg[0]}#pairs", files / "all.db"], **HOW)
    np.testing.assert_array_equal(both.matrix().toarray(), 3 * once.matrix().toarray())


def test_types_keep_their_meaning(pg):
    query = """select (900719925474099300 + i)::numeric as big, ('x' || i)::char(9) as padded,
      i * 0.5 as half,
      (i || '0')::bigint as wide, i > 1 as late, uuid_in(md5(i::text)::cstring) as code, i::float4 as f
      from generate_series(1, 3) as i"""
    data = rs.read(pg[0], rows="big", columns="padded", weight="half", query=query)
    assert list(data.entities["big"].ids) == [f"90071992547409930{i}" for i in (1, 2, 3)]
    assert list(data.entities["padded"].ids) == ["x1", "x2", "x3"]
    np.testing.assert_array_equal(np.diag(data.matrix().toarray()), [0.5, 1.0, 1.5])
    passing = rs.read(pg[0], rows="padded", columns="late", weight="half", query=query)  # no exact ids
    assert passing.matrix().toarray().tolist() == [[0.5, 0], [0, 1], [0, 1.5]]
    unusable = "select 'a' as doc, 'b' as word, unnest(array[1, 'NaN']::numeric[]) as n"
    with pytest.raises(DataError, match="1 weights that cannot be used, the first at row 2: 'nan'"):
        rs.read(pg[0], query=unusable, **HOW)
    table = read_feature_table([f"{pg[0]}#{query}"], "code")
    assert list(table.features) == ["big", "half", "wide", "late", "f"]
    np.testing.assert_array_equal(table.matrix[:, 1], [0.5, 1.0, 1.5])
    assert all(len(name) == 36 for name in table.samples.ids)


def test_mixed_types_of_sqlite_are_exact(tmp_path):
    with sqlite3.connect(tmp_path / "mixed.db") as connection:
        connection.execute("CREATE TABLE t (a, b, n)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?, ?)", [(1, "x", 0.1), ("007", b"\x01", 2), (2.5, 3, "4")]
        )
    connection.close()
    data = rs.read(tmp_path / "mixed.db", rows="a", columns="b", weight="n")
    assert sorted(data.entities["a"].ids) == ["007", "1", "2.5"]
    assert sorted(data.entities["b"].ids) == ["01", "3", "x"]
    assert sorted(data.matrix().data) == [0.1, 2.0, 4.0]


def test_texts_fields_facts_and_wide_tables(pg):
    address, server = pg
    server.run(
        "CREATE TABLE talks AS SELECT 't1' AS id, 'cats and dogs' AS abstract",
        'CREATE TABLE wide AS SELECT \'r1\' AS "row", 1 AS "A", 2 AS a',
        database="reading",
    )
    assert list(rs.read_text(f"{address}#talks", "abstract", "id").entities["word"].ids) == [
        "and",
        "cats",
        "dogs",
    ]
    np.testing.assert_array_equal(rs.read(f"{address}#wide").matrix().toarray(), [[1, 2]])
    facts = read_facts(f"{address}#facts")
    assert len(facts) == 1


@pytest.mark.parametrize(
    ("table", "kind", "words"),
    [
        ("nothing", UnknownNameError, "There are: 'facts', 'pairs'"),
        ("pairz", UnknownNameError, "Did you mean 'pairs'?"),
        ("", DataError, "say which one, as in"),
        ("select nope from pairs", DataError, 'column "nope" does not exist'),
        ("select from where", DataError, "syntax error"),
        ("select doc, word, 1 / (n - 4) as n from pairs", DataError, "division by zero"),
        ("a.b.c", ParameterError, "neither table nor schema.table"),
        ("select doc, word, n from pairs where n > 9", DataError, "no rows"),
        ("select doc, word, null::int as n from pairs", DataError, "weights that cannot be used"),
    ],
)
def test_wrong_tables_and_queries_are_named(pg, table, kind, words):
    with pytest.raises(kind) as refused:
        rs.read(f"{pg[0]}#{table}", **HOW)
    assert words in str(refused.value)
    assert "s3cr3t" not in str(refused.value)


def test_a_wrong_column_names_those_that_there_are(pg):
    with pytest.raises(
        UnknownNameError, match=r"no column 'dok' in postgresql://ada@127.0.0.1:\d+/reading#pairs"
    ):
        rs.read(f"{pg[0]}#pairs", rows="dok", columns="word")


def test_nothing_is_written_while_reading(pg):
    address, server = pg
    server.run("CREATE SEQUENCE counted", database="reading")
    with pytest.raises(ParameterError, match="only queries that read"):
        rs.read(address, query="select nextval('counted') as doc, 1 as word", rows="doc", columns="word")


def test_no_connection(postgres):
    with pytest.raises(StorageError, match="Nothing answers there") as refused:
        rs.read("postgresql://ada:s3cr3t@127.0.0.1:1/db#t", **HOW)
    assert "s3cr3t" not in str(refused.value)
    with pytest.raises(StorageError, match="PGPASSWORD") as refused:
        rs.read(f"{postgres.address(password='wr0ng-w0rd')}#t", **HOW)
    assert "wr0ng" not in str(refused.value)
    with pytest.raises(StorageError, match='database "nowhere" does not exist'):
        rs.read(f"{postgres.address('nowhere')}#t", **HOW)


def test_the_password_may_come_from_the_environment(pg, monkeypatch, tmp_path):
    address, server = pg
    bare = address.replace(":s3cr3t-w0rd", "")
    with pytest.raises(StorageError, match="password"):
        rs.read(f"{bare}#pairs", **HOW)
    monkeypatch.setenv("PGPASSWORD", "s3cr3t-w0rd")
    assert rs.read(f"{bare}#pairs", **HOW).matrix().sum() == 11
    monkeypatch.delenv("PGPASSWORD")
    (tmp_path / "pgpass").write_text(f"127.0.0.1:{server.port}:*:ada:s3cr3t-w0rd\n")
    (tmp_path / "pgpass").chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pgpass"))
    assert rs.read(f"{bare}#pairs", **HOW).matrix().sum() == 11


def test_a_connection_lost_in_the_middle(pg):
    dying = """select i::text as doc, repeat('x', 200) as word,
      case when i = 90000 then pg_terminate_backend(pg_backend_pid())::int end as n
      from generate_series(1, 200000) as i"""
    with pytest.raises(StorageError, match="was lost"):
        rs.read(pg[0], query=dying, **HOW)


_PEAK = """
import resource, sys
import relscape as rs
address, rows = sys.argv[1], int(sys.argv[2])
query = f'''select 'a document with a long name, number ' || i % 100 as doc,
  'and a word that is no shorter than that, number ' || i / 100 % 50 as word, i % 7 as n
  from generate_series(1, {rows}) as i'''
data = rs.read(address, query=query, rows='doc', columns='word', weight='n')
assert data.matrix().sum() == sum(i % 7 for i in range(1, rows + 1)), data.matrix().sum()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def test_a_million_rows_in_bounded_memory(pg):
    """Held as Python texts the rows would take 300 MB, in Arrow 110 MB."""
    few, many = (
        int(
            subprocess.run([sys.executable, "-c", _PEAK, pg[0], rows], capture_output=True, check=True).stdout
        )
        for rows in ("20000", "1000000")
    )
    assert many - few < 90


def test_references_are_taken_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = database_of("postgresql://ada:geheim@host:5432/db?sslmode=require&password=auch#shop.orders")
    assert (table.engine, table.table, table.name) == ("postgresql", ("shop", "orders"), "orders")
    for text in (str(table), repr(table), table.public, table.reference):
        assert "geheim" not in text and "auch" not in text
    assert table.public == "postgresql://host:5432/db#shop.orders"
    assert "password=auch" in table.place.uri
    (tmp_path / "a#b.csv").write_text("doc,word\nx,y\n")
    assert database_of("a#b.csv") is None and shown("a#b.csv") == "a#b.csv"
    assert rs.read("a#b.csv", rows="doc", columns="word").matrix().sum() == 1
    sqlite3.connect(tmp_path / "x.db").execute("CREATE TABLE t (a)").connection.close()
    assert database_of(tmp_path / "x.db").engine == "sqlite"
    assert public_name(f"{tmp_path}/x.db#t") == "x.db#t"
    assert located("x.db#select 1//2", tmp_path) == f"{tmp_path / 'x.db'}#select 1//2"
    assert located("postgresql://h/d#t", tmp_path) == "postgresql://h/d#t"
    (tmp_path / "text.db").write_text("no database")
    with pytest.raises(FormatError, match="holds something else"):
        rs.read("text.db#t", **HOW)
    with pytest.raises(StorageError, match="there is no database"):
        rs.read("none.db#t", **HOW)
    with pytest.raises(ParameterError, match="is none"):
        with_query("pairs.csv", "select 1")
    with pytest.raises(ParameterError, match="give either"):
        with_query("x.db#t", "select 1")


@pytest.mark.parametrize(
    "wrong",
    ["postgresql://ada:geh/eim@h/db#t", "postgresql://ada:geh#eim@h/db", "postgresql://ada:12#98@h/db",
     "postgresql://ada:geh@eim@h/db", "mysql://ada:geheim@h/db"],
)  # fmt: skip
def test_what_cannot_be_understood_is_not_shown(wrong):
    with pytest.raises(RelscapeError) as refused:
        rs.read(wrong, **HOW)
    assert not any(piece in str(refused.value) for piece in ("geh", "eim", "12", "98"))


def test_passwords_are_blotted_out():
    assert (
        without_secrets("at postgres://a:b@c/d?x=1&password=e#f")
        == "at postgres://a:***@c/d?x=1&password=***#f"
    )
    assert without_secrets("postgresql://host:5432/db, ada@host") == "postgresql://host:5432/db, ada@host"
    assert Address("postgresql://a:b%40c@h/d").blotted("b@c, b%40c") == "***, ***"
