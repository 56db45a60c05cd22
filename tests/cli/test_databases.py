"""Databases on the command line: as sources, and published to; passwords are in nothing that is written."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from relscape import Map

PAIRS = [
    ("d1", "cat", 3),
    ("d1", "dog", 1),
    ("d2", "cat", 1),
    ("d2", "dog", 4),
    ("d2", "fish", 1),
    ("d3", "fish", 5),
]
COLUMNS = ("--rows", "doc", "--columns", "word", "--weight", "n")
SECRET = "s3cr3t"


@pytest.fixture(scope="module")
def address(postgres):
    values = ", ".join(f"('{doc}', '{word}', {n})" for doc, word, n in PAIRS)
    return postgres.database(
        "commands",
        "CREATE TABLE pairs (doc text, word text, n integer)",
        f"INSERT INTO pairs VALUES {values}",
        "CREATE TABLE samples AS SELECT 's' || i AS name, (array['even', 'odd'])[i % 2 + 1] AS side, "
        "sin(i) AS f1, i % 2 + cos(i) AS f2 FROM generate_series(1, 40) AS i",
        "CREATE TABLE links AS SELECT 's' || i AS a, 's' || (i % 40 + 1) AS b FROM generate_series(1, 40) i",
        "CREATE TABLE facts AS SELECT 'e' || i AS head, 'next' AS relation, 'e' || i + 1 AS tail "
        "FROM generate_series(1, 30) AS i",
    )


def secretless(outcome, *folders):
    assert SECRET not in outcome.out and SECRET not in outcome.err
    for folder in folders:
        for file in Path(folder).rglob("*"):
            assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file
    return outcome


def test_the_same_map_from_file_and_database(relscape, address, tmp_path):
    (tmp_path / "pairs.csv").write_text("doc,word,n\n" + "".join(f"{d},{w},{n}\n" for d, w, n in PAIRS))
    assert relscape("coembed", "pairs.csv", *COLUMNS, "-o", "file").code == 0
    ways = {
        "table": (f"{address}#pairs",),
        "from": ("--from", f"{address}#public.pairs"),
        "query": ("--from", address, "--query", "select doc, word, sum(n) as n from pairs group by 1, 2"),
    }
    for name, way in ways.items():
        made = secretless(relscape("coembed", *way, *COLUMNS, "-o", name, "--json"), name)
        assert made.code == 0, made.err
        maps = [json.loads(Path(place, "map.json").read_text()) for place in ("file", name)]
        assert maps[0]["provenance"]["data_fingerprint"] == maps[1]["provenance"]["data_fingerprint"]
        [source] = maps[1]["provenance"]["source"]["files"]
        assert source.startswith("postgresql://127.0.0.1:") and "ada" not in source
    assert secretless(relscape("info", "query")).code == 0
    placed = secretless(relscape("place", "file", f"{address}#select 'new' as doc, 'dog' as word, 2 as n"))
    assert placed.code == 0 and "Placed 1 of 1 × doc" in placed.out
    assert (
        secretless(relscape("place", "file", "--from", address, "--query", "select * from pairs")).code == 0
    )
    assert secretless(relscape("score", "file", "--from", f"{address}#pairs", *COLUMNS)).code == 0


def test_samples_links_and_facts(relscape, address):
    made = secretless(relscape("cohorts", f"{address}#samples", "--label", "side", "-o", "m"), "m")
    assert made.code == 0, made.err
    network = ("network", f"{address}#samples", f"{address}#links", "--features", "f*", "-k", "2", "-o", "n")
    made = secretless(relscape(*network), "n")
    assert made.code == 0, made.err
    kg = ("kg", "train", address, "--query", "select * from facts", "-k", "4", "--epochs", "2", "-o", "kg")
    made = secretless(relscape(*kg), "kg")
    assert made.code == 0, made.err


def test_networks_by_query(relscape, address):
    documents = ("--from", address, "--query", "select name, side, f1 from samples", "--features", "f1")
    links = ("--link-query", "select b, a from links", "--source", "a", "--target", "b")
    made = secretless(relscape("network", *documents, *links, "-k", "2", "-o", "n"), "n")
    assert made.code == 0, made.err
    beside = relscape("network", *documents, f"{address}#links", "-k", "2", "-o", "m")
    assert beside.code == 0, beside.err
    one, other = (Map.load(place) for place in "nm")
    assert (one.coordinates("sample") == other.coordinates("sample")).all()
    assert set(one.group("sample").fields) >= {"side", "links out"}
    alone = secretless(
        relscape("network", "-m", "links", *documents[:2], *links[:2], "-k", "2", "-o", "a"), "a"
    )
    assert alone.code == 0, alone.err
    assert relscape("network", "-m", "links", "--from", f"{address}#links", "-k", "2", "-o", "b").code == 0
    asked = secretless(relscape("network", "suggest", "n", *documents[:4]))
    assert asked.code == 0, asked.err
    assert "s1 may link to" in asked.out
    scored = secretless(relscape("network", "score", "n", "--from", address, "--query", links[1], *links[2:]))
    assert scored.code == 0, scored.err


def test_the_next_command_asks_the_same(relscape, address):
    asked = "select head, relation, tail from facts where head <> 'nobody' and tail <> 'nobody at all'"
    seen = secretless(relscape("kg", "inspect", "--from", address, "--query", asked))
    assert seen.code == 0, seen.err
    assert asked in seen.out.replace("'\"'\"'", "'")


def test_a_project_of_databases(relscape, address, tmp_path):
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("CREATE TABLE tagged (name, tag)")
        connection.executemany(
            "INSERT INTO tagged VALUES (?, ?)", [(f"s{i}", f"t{i % 3}") for i in range(1, 41)]
        )
    connection.close()
    (tmp_path / "relscape.toml").write_text(f"""
[kinds.name]
table = "{address}"
query = "select name, f1, f2 from samples"
features = ["f*"]

[kinds.tag]

[relations.tagged]
table = "shop.db#tagged"
from = "name"
to = "tag"

[models.it]
method = "projection"
""")
    made = secretless(relscape("project", "-o", "p"), "p")
    assert made.code == 0, made.err
    assert secretless(relscape("run"), "maps").code == 0
    again = secretless(relscape("run"), "maps")
    assert again.code == 0 and "up to date" in again.out
    drafted = secretless(relscape("init", f"{address}#samples", "shop.db#tagged", "-o", "draft.toml"))
    assert drafted.code == 0, drafted.err
    text = Path("draft.toml").read_text()
    assert SECRET not in text and '#samples"' in text and '"shop.db#tagged"' in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("{address}#nothing",), "no table 'nothing'"),
        (("{address}#select nope from pairs",), 'column "nope" does not exist'),
        (("{address}", "--query", "delete from pairs"), "begin with select"),
        (("{address}#pairs", "--query", "select 1"), "give either"),
        (("{address}", "x.csv", "--query", "select 1"), "one database"),
        (("postgresql://ada:s3cr3t@127.0.0.1:1/db#t",), "Nothing answers there"),
        (("{wrong}#pairs",), "authentication failed"),
        (
            ("{address}#select 1 as doc, 2 as word, pg_terminate_backend(pg_backend_pid())::int as n",),
            "was lost",
        ),
    ],
)
def test_what_fails_is_told(relscape, address, arguments, words):
    wrong = address.replace("s3cr3t-w0rd", "s3cr3t-wrong")
    given = [argument.format(address=address, wrong=wrong) for argument in arguments]
    outcome = secretless(relscape("coembed", *given, *COLUMNS, "-o", "m"))
    assert outcome.code == 1 and words in outcome.err
    assert not Path("m").exists()


def test_publish(relscape, made, address):
    plan = secretless(relscape("publish", made, address, "--schema", "maps", "--dry-run"))
    assert plan.code == 0 and 'CREATE SCHEMA "maps";' in plan.out and "dry run" in plan.err
    done = secretless(relscape("publish", made, address, "--schema", "maps"))
    assert done.code == 0, done.err
    assert 'as version 1 of "maps"."pairs_points" in postgresql://ada@127.0.0.1' in done.out
    assert "ORDER BY distance" in done.out and "pgvector" in done.err
    again = secretless(relscape("publish", made, address, "--schema", "maps", "--json"))
    assert again.json["changed"] is False and again.json["version"] == 1
    refused = secretless(relscape("publish", made, "postgresql://ada:s3cr3t@127.0.0.1:1/db"))
    assert refused.code == 1 and "cannot connect" in refused.err
