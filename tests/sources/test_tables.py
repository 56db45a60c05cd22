"""Tables of every kind: what they give, and how each bad one is refused."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

from relscape import EntitySet, RelationalData
from relscape.errors import (
    DataError,
    FormatError,
    MissingExtraError,
    ParameterError,
    RelscapeWarning,
    StorageError,
    UnknownNameError,
)
from relscape.sources import pairs
from relscape.sources.tables import read, read_fields, read_table

LINES = [("d2", "cat", 2.0), ("d1", "dog", 1.0), ("d2", "cat", 0.5), ("d1", "ant", 3.0), ("d3", "dog", 0.25)]


def summed(lines: list[tuple[Any, Any, float]]) -> dict[tuple[str, str], float]:
    """Sum repeated pairs in the plainest way."""
    sums: dict[tuple[str, str], float] = defaultdict(float)
    for row, column, weight in lines:
        sums[str(row), str(column)] += weight
    return dict(sums)


def entries(data: RelationalData) -> dict[tuple[str, str], float]:
    """List what a relation stores, by ids."""
    relation = data.relation()
    matrix = relation.matrix.tocoo()
    left, right = data.entities[relation.rows].ids, data.entities[relation.columns].ids
    return {
        (left[i], right[j]): float(w) for i, j, w in zip(matrix.row, matrix.col, matrix.data, strict=True)
    }


def long_text(separator: str = ",", lines: list[tuple[Any, Any, float]] = LINES) -> str:
    return "".join(f"{a}{separator}{b}{separator}{c}\n" for a, b, c in [("doc", "word", "n"), *lines])


def write(path: Path, contents: str | bytes) -> Path:
    path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    return path


def frame() -> pd.DataFrame:
    return pd.DataFrame(LINES, columns=["doc", "word", "n"])


def as_xlsx(path: Path, rows: list[list[Any]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def make(folder: Path, form: str) -> Path:
    """Write the same five lines in one of the formats."""
    path = folder / f"links.{form}"
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    records = [dict(zip(("doc", "word", "n"), line, strict=True)) for line in LINES]
    writers = {
        "csv": lambda: write(path, long_text()),
        "CSV": lambda: write(path, long_text()),
        "tsv": lambda: write(path, long_text("\t")),
        "csv.gz": lambda: write(path, gzip.compress(long_text().encode())),
        "tsv.bz2": lambda: write(path, bz2.compress(long_text("\t").encode())),
        "csv.zst": lambda: write(path, pa.Codec("zstd").compress(long_text().encode(), asbytes=True)),
        "jsonl": lambda: write(path, "".join(json.dumps(r) + "\n" for r in records)),
        "ndjson": lambda: write(path, "\n\n".join(json.dumps(r) for r in records)),
        "json": lambda: write(path, json.dumps(records, indent=1)),
        "jsonl.gz": lambda: write(path, gzip.compress("\n".join(map(json.dumps, records)).encode())),
        "parquet": lambda: pq.write_table(table, path),
        "feather": lambda: feather.write_feather(table, path),
        "arrow": lambda: feather.write_feather(table, path, compression="uncompressed"),
        "ipc": lambda: write_stream(path, table),
        "xlsx": lambda: as_xlsx(path, [["doc", "word", "n"], *map(list, LINES)]),
    }
    writers[form]()
    return path


def write_stream(path: Path, table: Any) -> None:
    with ipc.new_stream(str(path), table.schema) as stream:
        stream.write_table(table)


FORMS = [
    "csv", "CSV", "tsv", "csv.gz", "tsv.bz2", "csv.zst", "jsonl", "ndjson", "json", "jsonl.gz", "parquet",
    "feather", "arrow", "ipc", "xlsx",
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_format_gives_the_same_relation(tmp_path: Path, form: str) -> None:
    data = read(make(tmp_path, form), rows="doc", columns="word", weight="n")
    assert data.kinds == ("doc", "word")
    assert data.relation().name == "doc-word"
    assert data.entities["doc"].ids.tolist() == ["d1", "d2", "d3"]
    assert data.entities["word"].ids.tolist() == ["ant", "cat", "dog"]
    assert entries(data) == summed(LINES)


def test_the_result_is_that_of_a_frame(tmp_path: Path) -> None:
    data = read(make(tmp_path, "csv"), rows="doc", columns="word", weight="n")
    expected = RelationalData.from_frame(frame(), "doc", "word", "n")
    assert data.fingerprint() == expected.fingerprint()


def test_without_weight_every_line_counts_one(tmp_path: Path) -> None:
    data = read(str(make(tmp_path, "csv")), rows="doc", columns="word")
    assert entries(data) == summed([(a, b, 1.0) for a, b, _ in LINES])


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(tmp_path: Path, separator: str) -> None:
    path = write(tmp_path / "t.csv", long_text(separator))
    assert entries(read(path, rows="doc", columns="word", weight="n")) == summed(LINES)


def test_decimal_commas_between_semicolons(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "doc;word;n\na;x;1,5\na;x;2\nb;y;1e1\n")
    assert entries(read(path, "doc", "word", "n")) == {("a", "x"): 3.5, ("b", "y"): 10.0}
    wide = write(tmp_path / "w.csv", ";x;y\na;1,5;0\nb;0;2,25\n")
    assert read(wide).matrix().toarray().tolist() == [[1.5, 0], [0, 2.25]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_every_encoding(tmp_path: Path, encoding: str, ending: str) -> None:
    if ending == "csv":
        text = "doc,word,n\nMünchen,naïve “quoted”,1\nParis,œuvre,2\n"
    else:
        text = '{"doc":"München","word":"naïve “quoted”","n":1}\n{"doc":"Paris","word":"œuvre","n":2}\n'
    path = write(tmp_path / f"t.{ending}", text.encode(encoding))
    data = read(path, "doc", "word", "n")
    assert entries(data) == {("München", "naïve “quoted”"): 1.0, ("Paris", "œuvre"): 2.0}


def test_latin_1_where_cp1252_has_no_letter(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "doc,word\né,a\x81\n".encode("latin-1"))
    with pytest.warns(RelscapeWarning, match=r"t\.csv is not UTF-8 and was read as latin-1"):
        data = read(path, "doc", "word")
    assert entries(data) == {("é", "a\x81"): 1.0}


def test_a_late_accent_is_still_seen(tmp_path: Path) -> None:
    text = "doc,word\n" + "aaaaaaaa,bbbbbbbb\n" * 300_000 + "é,x\n"
    path = write(tmp_path / "t.csv", text.encode("latin-1"))
    with pytest.warns(RelscapeWarning, match="read as cp1252, which is a guess"):
        data = read(path, "doc", "word")
    assert entries(data) == {("aaaaaaaa", "bbbbbbbb"): 300_000.0, ("é", "x"): 1.0}


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_one_byte_encoding_is_a_guess_and_said(tmp_path: Path, ending: str) -> None:
    text = "doc,word\nMünchen,œuvre\n" if ending == "csv" else '{"doc":"München","word":"œuvre"}\n'
    path = write(tmp_path / f"t.{ending}", text.encode("cp1252"))
    with pytest.warns(RelscapeWarning, match=r"t\..*cp1252.*encoding=.*--encoding"):
        data = read(path, "doc", "word")
    assert entries(data) == {("München", "œuvre"): 1.0}


@pytest.mark.parametrize(
    ("encoding", "word"),
    [("shift_jis", "日本語"), ("Windows-1251", "слово"), ("gbk", "中文"), ("cp1252", "œuvre"), ("utf8", "é"),
     ("utf-8-sig", "é"), ("utf-16", "é"), ("utf-16-le", "é")],
)  # fmt: skip
def test_an_encoding_may_be_said(tmp_path: Path, encoding: str, word: str) -> None:
    path = write(tmp_path / "t.csv", f"doc,{word}\n{word},1\n".encode(encoding))
    assert entries(read(path, "doc", word, encoding=encoding)) == {(word, "1"): 1.0}
    assert entries(read(path, encoding=encoding)) == {(word, word): 1.0}
    assert read_table(path, encoding=encoding).to_pydict() == {"doc": [word], word: [1]}
    ids, fields = read_fields(path, encoding=encoding)
    assert ids.tolist() == [word]
    assert list(fields) == [word]
    lines = write(tmp_path / "t.jsonl", f'{{"doc": "{word}", "word": "x"}}\n'.encode(encoding))
    assert entries(read(lines, "doc", "word", encoding=encoding)) == {(word, "x"): 1.0}


def test_a_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-16-le"):
        path = write(tmp_path / "t.csv", "\ufeffdoc,word\né,x\n".encode(encoding))
        assert entries(read(path, "doc", "word", encoding=encoding)) == {("é", "x"): 1.0}


def test_a_said_encoding_that_is_not_so(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "doc,word\né,x\n".encode("latin-1"))
    for encoding in ("utf-8", "ascii", "shift_jis"):
        with pytest.raises(FormatError, match=rf"t\.csv is not {encoding} text: at byte 9, "):
            read(path, "doc", "word", encoding=encoding)
    late = write(tmp_path / "late.csv", b"doc,word\n" + b"a,b\n" * 1_500_000 + b"\xff,x\n")
    with pytest.raises(FormatError, match=r"late\.csv is not utf-8 text: at byte 6000009, "):
        read(late, "doc", "word", encoding="utf-8")
    zero = write(tmp_path / "zero.csv", "doc,word\né,x\n".encode("utf-16"))
    with pytest.raises(FormatError, match="characters that are zero"):
        read(zero, "doc", "word", encoding="latin-1")
    with pytest.raises(FormatError, match=r"t\.csv is not utf-16 text"):
        read(path, "doc", "word", encoding="utf-16")
    for unknown in ("klingon", "hex", "a\0", 8):
        with pytest.raises(ParameterError, match=r"encoding is .* no encoding of text that Python knows"):
            read(path, "doc", "word", encoding=unknown)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="encoding is for text files"):
        read(make(tmp_path, "parquet"), "doc", "word", encoding="cp1251")


def test_bad_lines_are_found_in_the_said_encoding(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "doc,word,n\n日本,語,1\n日,本,many\n".encode("shift_jis"))
    with pytest.raises(DataError, match="at line 3: 'many'"):
        read(path, "doc", "word", "n", encoding="shift_jis")


@pytest.mark.parametrize("separator", ["\t", "|", ";"])
def test_decimal_commas_with_any_other_separator(tmp_path: Path, separator: str) -> None:
    text = "doc,word,n,m\na,x,1_5,-0_25\na,y,2,3_0\n".replace(",", separator).replace("_", ",")
    path = write(tmp_path / ("t.tsv" if separator == "\t" else "t.csv"), text)
    assert entries(read(path, "doc", "word", "n")) == {("a", "x"): 1.5, ("a", "y"): 2.0}
    assert read_table(path, ["n", "m"]).to_pydict() == {"n": [1.5, 2.0], "m": [-0.25, 3.0]}


def test_weights_whose_sum_is_not_finite(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "doc,word,n\na,x,1e308\na,y,1e308\n")
    with pytest.raises(DataError, match="too large to be summed, see doc 'a'"):
        read(path, "doc", "word", "n")
    with pytest.raises(DataError, match="too large to be summed, see row 'a'"):
        read(write(tmp_path / "w.csv", ",x,y\na,1e308,1e308\n"))
    with pytest.raises(DataError, match=r"not finite.*doc 'a' and word 'x'"):
        read(write(tmp_path / "r.csv", "doc,word,n\na,x,1e308\na,x,1e308\n"), "doc", "word", "n")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_table_names_that_are_no_text(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv"))
    write(path, long_text())
    with pytest.raises(StorageError, match=r"caf\\xe9\.csv is not valid UTF-8; rename"):
        read(path, "doc", "word")


def test_mixed_encodings_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "doc,word\né,x\n".encode() + "ü,x\n".encode("latin-1"))
    with pytest.raises(FormatError, match="UTF-8 up to about byte 14"):
        read(path, "doc", "word")


ODD_IDS = [
    'say "hi"',
    "two\nlines",
    "a,b;c",
    "🦆 Ente",
    "O'Neill",
    "  spaced ",
    "x" * 200_000,
    "--",
    "NULL",
    "NA",
]


def test_odd_ids_survive(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["doc", "word"])
        writer.writerows((thing, "w") for thing in ODD_IDS)
    assert read(path, "doc", "word").entities["doc"].ids.tolist() == sorted(ODD_IDS)
    lines = "".join(json.dumps({"doc": thing, "word": "w"}) + "\n" for thing in ODD_IDS)
    path = write(tmp_path / "t.jsonl", lines)
    assert read(path, "doc", "word").entities["doc"].ids.tolist() == sorted(ODD_IDS)


def test_column_names_are_data_too(tmp_path: Path) -> None:
    names = ['a"b', "x'; DROP TABLE t; --", "🦆", "A", "a"]
    table = pa.table({name: [f"{k}", f"{k + 1}"] for k, name in enumerate(names)})
    pq.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, tmp_path / "t.feather")
    table.to_pandas().to_csv(tmp_path / "t.csv", index=False)
    for ending in ("parquet", "feather", "csv"):
        data = read(tmp_path / f"t.{ending}", names[0], names[1])
        assert entries(data) == {("0", "1"): 1.0, ("1", "2"): 1.0}
        assert read(tmp_path / f"t.{ending}", "A", "a").entities["a"].ids.tolist() == ["4", "5"]


@pytest.mark.parametrize("name", ["it's [1].csv", "a*b?.csv", "sp ace;.csv", "x=1.csv", "[.csv", "]ü.csv"])
def test_odd_file_names(tmp_path: Path, name: str) -> None:
    (tmp_path / "k=v").mkdir()
    write(tmp_path / "k=v" / "it's 1.csv", "doc,word\nwrong,wrong\n")
    path = write(tmp_path / "k=v" / name, "doc,word\na,x\n")
    assert entries(read(path, "doc", "word")) == {("a", "x"): 1.0}
    parquet = path.with_suffix(".parquet")
    pq.write_table(pa.table({"doc": ["a"], "word": ["x"]}), parquet)
    assert list(read_table(parquet).column_names) == ["doc", "word"]


def test_numbers_sort_as_numbers_and_stay_as_written(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "doc,word\n10,b\n9,007\n2,10\n")
    data = read(path, "doc", "word")
    assert data.entities["doc"].ids.tolist() == ["2", "9", "10"]
    assert data.entities["word"].ids.tolist() == ["007", "10", "b"]
    pq.write_table(pa.table({"doc": [10, 9, 2], "word": [2.5, 10.0, 1.0]}), tmp_path / "t.parquet")
    data = read(tmp_path / "t.parquet", "doc", "word")
    assert data.entities["doc"].ids.tolist() == ["2", "9", "10"]
    assert data.entities["word"].ids.tolist() == ["1.0", "2.5", "10.0"]
    xlsx = as_xlsx(tmp_path / "t.xlsx", [["doc", "word"], [10, "x"], [9, "x"]])
    assert read(xlsx, "doc", "word").entities["doc"].ids.tolist() == ["9", "10"]


def test_categories_sort_by_name(tmp_path: Path) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["z", "a"]))
    pq.write_table(pa.table({"doc": column, "word": ["x", "x", "y"]}), tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet", "doc", "word").entities["doc"].ids.tolist() == ["a", "z"]


def test_several_files_of_several_kinds_are_one_table(tmp_path: Path) -> None:
    write(tmp_path / "p1.csv", "word,doc,n\nx,a,1\n")
    write(tmp_path / "p2.csv", "doc;extra;word;n\na;?;x;0,5\n7;?;y;2\n")
    write(tmp_path / "p3.csv", "doc,word,n\n")
    pq.write_table(pa.table({"doc": [7], "word": ["y"], "n": [4]}), tmp_path / "q.parquet")
    expected = {("a", "x"): 1.5, ("7", "y"): 6.0}
    assert entries(read([tmp_path / "p*.csv", tmp_path / "q.parquet"], "doc", "word", "n")) == expected
    overlapping = [tmp_path / "p1.csv", str(tmp_path / "p?.csv"), tmp_path / "*.parquet"]
    assert entries(read(overlapping, "doc", "word", "n")) == expected


def test_one_kind_in_both_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "cites.csv", "from,to\n10,9\n9,2\n10,9\n")
    data = read(path, "from", "to", same_kind="paper")
    expected = RelationalData.from_pairs([10, 9, 10], [9, 2, 9], None, "paper", "paper")
    assert data.kinds == ("paper",)
    assert data.entities["paper"].ids.tolist() == ["2", "9", "10"]
    assert (data.matrix() != expected.matrix()).nnz == 0
    assert data.relation(("paper", "paper")).name == "from-to"


def test_pairs_that_sum_to_zero_are_not_stored_but_their_things_stay(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "doc,word,n\na,x,0\nb,y,1\nc,y,-1\nc,y,1\n")
    data = read(path, "doc", "word", "n", allow_negative=True)
    assert entries(data) == {("b", "y"): 1.0}
    assert data.entities["doc"].ids.tolist() == ["a", "b", "c"]


def test_the_order_of_lines_never_matters(tmp_path: Path, rng: np.random.Generator) -> None:
    lines = [
        (int(a), int(b), float(w))
        for a, b, w in zip(*rng.integers(0, 5, (2, 3000)), rng.random(3000), strict=True)
    ]
    prints = set()
    for k in range(3):
        shuffled = [lines[i] for i in rng.permutation(len(lines))]
        path = write(tmp_path / f"{k}.csv", long_text(lines=shuffled))
        data = read(path, "doc", "word", "n")
        prints.add(data.fingerprint())
        assert entries(data) == pytest.approx(summed(lines), rel=1e-12)
    assert len(prints) == 1


def test_a_larger_file_agrees_with_pandas(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relscape.sources.sessions._BATCH", 4096)
    n = 200_000
    table = pd.DataFrame(
        {"doc": rng.integers(0, 3000, n), "word": rng.zipf(1.5, n) % 5000, "n": rng.integers(1, 9, n)}
    )
    table["word"] = "w" + table["word"].astype(str)
    table.to_csv(tmp_path / "t.csv", index=False)
    data = read(tmp_path / "t.csv", "doc", "word", "n")
    sums = table.groupby(["doc", "word"])["n"].sum().reset_index()
    assert data.entities["doc"].ids.tolist() == [str(d) for d in sorted(table["doc"].unique())]
    assert data.entities["word"].ids.tolist() == sorted(table["word"].unique())
    matrix = data.matrix().tocoo()
    assert (matrix.data == sums["n"].to_numpy()).all()
    assert (data.entities["doc"].ids[matrix.row] == sums["doc"].astype(str).to_numpy()).all()
    assert (data.entities["word"].ids[matrix.col] == sums["word"].to_numpy()).all()


@pytest.mark.parametrize("same_kind", [None, "thing"])
@pytest.mark.parametrize("fraction", [1.0, 0.1])
def test_pairs_that_are_summed_in_pieces(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, fraction: float, same_kind: Any
) -> None:
    monkeypatch.setattr("relscape.sources.sessions._BATCH", 3 * 2048)  # what DuckDB gives at the least
    monkeypatch.setattr(pairs, "_WAITING", 3000)
    lines = [
        (f"a{a}", f"a{b}", float(w) * fraction)
        for a, b, w in zip(*rng.zipf(1.6, (2, 30_000)) % 90, rng.integers(1, 9, 30_000), strict=True)
    ]
    paths = []
    for k, part in enumerate((lines[:9000], lines[9000:])):
        columns = zip(*part, strict=True)
        table = pa.table(dict(zip(("doc", "word", "n"), map(list, columns), strict=True)))
        pq.write_table(table, tmp_path / f"{k}.parquet")
        paths.append(tmp_path / f"{k}.parquet")
    data = read(paths, "doc", "word", "n", same_kind=same_kind)
    expected = {pair: weight for pair, weight in summed(lines).items() if weight}
    found = entries(data)
    assert found == (expected if fraction == 1.0 else pytest.approx(expected, rel=1e-12))
    for kind, names in data.entities.items():
        assert names.ids.tolist() == sorted(names.ids), kind
    if same_kind is not None:
        assert set(data.entities["thing"].ids) == {name for a, b, _ in lines for name in (a, b)}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("DATE '2026-01-09' + i::INTEGER", ["2026-01-10", "2026-01-11", "2026-01-19"]),
        ("TIMESTAMP '2026-01-01 09:59:59.5' + INTERVAL (i) SECOND", None),
        ("(i * 1.5)::DECIMAL(9, 2)", ["1.50", "3.00", "15.00"]),
        ("(i::HUGEINT << 70)::DECIMAL(38, 0)", None),
        ("(i / 4)::DOUBLE", ["0.25", "0.5", "2.5"]),
        ("(i - 2)::TINYINT", ["-1", "0", "8"]),
        ("9223372036854775797 + i::UBIGINT", None),
        ("i = 2", ["false", "true"]),
        ("CASE i WHEN 1 THEN -0.0 ELSE i % 2 END::DOUBLE", ["0.0"]),
    ],
)
def test_ids_of_every_type_are_sorted_as_it_sorts(
    tmp_path: Path, sql: str, expected: list[str] | None
) -> None:
    import duckdb

    path = tmp_path / "t.parquet"
    lines = "unnest([10, 1, 2, 10, 1]) AS t(i)"
    duckdb.sql(f"COPY (SELECT {sql} AS thing, 'w' AS word FROM {lines}) TO '{path}' (FORMAT parquet)")
    data = read(path, "thing", "word")
    found = duckdb.sql(
        f"SELECT thing::VARCHAR, count(*) FROM '{path}' GROUP BY thing ORDER BY thing"
    ).fetchall()
    assert data.entities["thing"].ids.tolist() == (expected or [name for name, _ in found])
    assert data.matrix().toarray().ravel().tolist() == [times for _, times in found]


def test_too_little_memory_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relscape.sources.sessions.MEMORY", "1MB")
    path = write(tmp_path / "t.csv", long_text(lines=[(f"document {k:060d}", "w", 1) for k in range(50_000)]))
    with pytest.raises(StorageError, match=r"t\.csv needs more room than there is"):
        read(path, "doc", "word")


def test_more_memory_than_a_file_can_fill_is_damage(tmp_path: Path) -> None:
    """A byte in the length of a compressed buffer makes it 2⁴⁸ bytes and more, which nothing can hold."""
    path = tmp_path / "t.arrow"
    table = pa.table({"doc": ["a", "b"], "word": ["x", "y"], "n": [1.0, 2.0]})
    feather.write_feather(table, path, compression="zstd")
    whole = path.read_bytes()
    at = whole.rfind(b"\x28\xb5\x2f\xfd") - 8  # of the last buffer: its length before Zstandard's mark
    path.write_bytes(whole[: at + 6] + b"\x01" + whole[at + 7 :])
    with pytest.raises(FormatError, match=r"t\.arrow cannot be read: .*damaged"):
        read(path, "doc", "word", "n")


# wide tables


def test_wide_and_long_agree(tmp_path: Path) -> None:
    table = frame().pivot_table(index="doc", columns="word", values="n", aggfunc="sum", fill_value=0)
    table.to_csv(tmp_path / "wide.csv")
    unnamed = table.rename_axis(None).rename_axis(None, axis=1)
    unnamed.to_csv(tmp_path / "unnamed.csv")
    unnamed.to_parquet(tmp_path / "index.parquet")
    unnamed.reset_index(names="doc").to_feather(tmp_path / "wide.feather")
    as_xlsx(
        tmp_path / "wide.xlsx",
        [
            [None, *unnamed],
            *([name, *map(float, v)] for name, v in zip(table.index, table.to_numpy(), strict=True)),
        ],
    )
    long = read(make(tmp_path, "csv"), "doc", "word", "n")
    for name in ("wide.csv", "unnamed.csv", "index.parquet", "wide.feather", "wide.xlsx"):
        wide = read(tmp_path / name)
        rows = "doc" if name in ("wide.csv", "wide.feather") else "row"
        assert wide.kinds == (rows, "column")
        assert wide.relation().name == f"{rows}-column"
        assert entries(wide) == entries(long)
        assert wide.entities[rows].ids.tolist() == long.entities["doc"].ids.tolist()
        assert wide.entities["column"].ids.tolist() == long.entities["word"].ids.tolist()


def test_a_wide_table_keeps_its_order(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "staff,none,heavy,Heavy\nSM,4,2,0\nJM,4,3,1\n")
    data = read(path)
    assert data.entities["staff"].ids.tolist() == ["SM", "JM"]
    assert data.entities["column"].ids.tolist() == ["none", "heavy", "Heavy"]


def test_long_wide_tables_keep_rows_and_names_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relscape.sources.sessions._BATCH", 4096)
    path = write(tmp_path / "t.csv", "id,x,y\n" + "".join(f"r{k},{k},1\n" for k in range(60_000)))
    data = read(path)
    assert data.entities["id"].ids.tolist() == [f"r{k}" for k in range(60_000)]
    assert data.matrix().toarray()[:, 0].tolist() == list(range(60_000))


def test_row_names_that_are_numbers_but_unnamed(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", ",x,y\n1999,1,2\n2000,3,4\n")
    data = read(path)
    assert data.entities["row"].ids.tolist() == ["1999", "2000"]
    assert data.matrix().toarray().tolist() == [[1, 2], [3, 4]]


def test_a_header_one_name_short_has_row_names(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", '"x","y"\n"a",1,2\n"b",3,4\n')
    data = read(path)
    assert data.entities["row"].ids.tolist() == ["a", "b"]
    assert data.entities["column"].ids.tolist() == ["x", "y"]


def test_numbers_only_are_numbered(tmp_path: Path) -> None:
    data = read(write(tmp_path / "t.csv", "x,y\n1,2\n3,4\n"))
    assert data.entities["row"].ids.tolist() == ["0", "1"]
    assert data.matrix().toarray().tolist() == [[1, 2], [3, 4]]


def test_wide_tables_under_one_another(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "id,x,y\na,1,2\n")
    write(tmp_path / "b.csv", "id,y,x\nb,4,3\n")
    assert read(tmp_path / "*.csv").matrix().toarray().tolist() == [[1, 2], [3, 4]]
    write(tmp_path / "c.csv", "id,x,z\nc,4,3\n")
    with pytest.raises(DataError, match=r"c\.csv and .*a\.csv do not have the same columns: 'y'"):
        read(tmp_path / "*.csv")


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ("id,x,y\na,1,2\nb,?,\n", r"has 1 cells .* the first in column 'x' at line 3: '\?' is not a number"),
        ("id,x,y\na,1,2\nb,1,-2\n", "column 'y' at line 3: '-2'"),
        ("id,x,y\na,1,inf\n", "column 'y' at line 2: 'inf'"),
        ("doc,word\na,x\nb,y\n", "If this is a table of pairs, give rows and columns"),
        ("id,x\na,1\na,2\n", "'a' at line 2 and line 3"),
        ("id,x\na,1\n,2\n", "column 'id' has 1 missing ids, the first at line 3"),
        ("id\na\n", "no column of numbers besides the row names 'id'"),
        ("id,x\n", "column names but no rows"),
    ],
)
def test_bad_wide_tables(tmp_path: Path, contents: str, message: str) -> None:
    path = write(tmp_path / "t.csv", contents)
    with pytest.raises(DataError, match=message) as caught:
        read(path)
    assert "t.csv" in str(caught.value)


@pytest.mark.parametrize("form", ["csv", "xlsx", "parquet"])
def test_blank_cells_of_a_wide_table_are_zeros_and_counted(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"t.{form}"
    columns = {"id": ["a", "b", "c"], "x": [1.0, None, 2.5], "y": [None, float("nan"), 3.0]}
    if form == "csv":
        write(path, "id,x,y\na,1,\nb, ,\nc,2.5,3\n")
    elif form == "parquet":
        pq.write_table(pa.table(columns), path)
    else:
        as_xlsx(path, [["id", "x", "y"], ["a", 1, None], ["b", None, None], ["c", 2.5, 3]])
    with pytest.warns(RelscapeWarning, match="^3 blank cells are read as 0") as said:
        data = read(path)
    assert len(said) == 1
    assert data.matrix().toarray().tolist() == [[1, 0], [0, 0], [2.5, 3]]
    assert data.matrix().nnz == 3


def test_blank_cells_of_a_first_column_of_numbers(tmp_path: Path) -> None:
    with pytest.warns(RelscapeWarning, match="^1 blank cell is read as 0"):
        data = read(write(tmp_path / "t.csv", "x,y\n1,2\n,3\n"))
    assert data.kinds == ("row", "column")
    assert data.matrix().toarray().tolist() == [[1, 2], [0, 3]]


@pytest.mark.parametrize(
    ("contents", "rows"),
    [("kunde,x\na,1\n", "kunde"), (",x\na,1\n", "row"), ("x\na,1\n", "row"), ("y,x\n2,1\n", "row"),
     ("column,x\na,1\n", "row")],
)  # fmt: skip
def test_the_first_column_of_a_wide_table_names_the_row_kind(
    tmp_path: Path, contents: str, rows: str
) -> None:
    data = read(write(tmp_path / "t.csv", contents))
    assert data.kinds == (rows, "column")
    assert data.relation().name == f"{rows}-column"


@pytest.mark.parametrize(("first", "second"), [("2,5", "1.500"), ("1,500", "2.5"), ("0,5", "-12.000")])
def test_commas_and_points_that_may_mark_thousands_are_refused(
    tmp_path: Path, first: str, second: str
) -> None:
    message = rf"column 'n' has numbers .* '{first}' at line 3 and '{second}' at line 4, .*in one form"
    path = write(tmp_path / "t.csv", f"doc;word;n\na;x;1\na;y;{first}\nb;x;{second}\n")
    with pytest.raises(DataError, match=message):
        read(path, "doc", "word", "n", allow_negative=True)
    path = write(tmp_path / "w.csv", f"doc;m;n\na;1,5;1\nb;2;{first}\nc;3;{second}\n")
    with pytest.raises(DataError, match=message):
        read(path, allow_negative=True)


def test_thousands_that_cannot_be_decimals(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "doc;word;n\na;y;1,25\nb;x;1.500.000\n")
    with pytest.raises(DataError, match=r"line 3: '1\.500\.000' looks like a number with a thousands"):
        read(path, "doc", "word", "n")


def test_commas_and_points_that_are_plainly_decimal(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "doc;word;n;m\na;x;1,5;1.500\nb;y;0.125;2\n")
    assert entries(read(path, "doc", "word", "n")) == {("a", "x"): 1.5, ("b", "y"): 0.125}
    assert entries(read(path, "doc", "word", "m")) == {("a", "x"): 1.5, ("b", "y"): 2.0}


def test_rows_of_a_workbook_are_counted_as_it_does(tmp_path: Path) -> None:
    lines = [[], [], ["doc", "word", "n"], ["a", "x", 1], [], ["b", "y", "many"]]
    path = as_xlsx(tmp_path / "t.xlsx", lines)
    with pytest.raises(DataError, match="at row 6: 'many' is not a number"):
        read(path, "doc", "word", "n")
    wide = as_xlsx(tmp_path / "w.xlsx", [[], ["doc", "n"], ["a", 1], ["b", "1.672,11"]])
    with pytest.raises(DataError, match=r"column 'n' at row 4: '1\.672,11' looks like .* thousands"):
        read(wide)


def test_a_sheet_may_be_named(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for name, thing in (("first", "a"), ("second", "b")):
        sheet = book.create_sheet(name)
        for row in (["doc", "word"], [thing, "x"]):
            sheet.append(row)
    book.remove(book.worksheets[0])
    book.save(tmp_path / "t.xlsx")
    path = tmp_path / "t.xlsx"
    assert entries(read(path, "doc", "word")) == {("a", "x"): 1.0}
    assert entries(read(path, "doc", "word", sheet="second")) == {("b", "x"): 1.0}
    assert read_fields(path, sheet="second")[0].tolist() == ["b"]
    with pytest.raises(UnknownNameError, match=r"no sheet 'secnd' in .*t\.xlsx\. Did you mean 'second'\?"):
        read(path, "doc", "word", sheet="secnd")
    with pytest.raises(ParameterError, match=r"sheet is for workbooks.*links\.csv is none"):
        read(make(tmp_path, "csv"), "doc", "word", sheet="second")


def test_real_contingency_tables(data_dir: Path) -> None:
    for name in ("smoke", "author", "housetasks"):
        path = data_dir / "contingency" / f"{name}.csv"
        expected = pd.read_csv(path, index_col=0)
        data = read(path)
        assert data.entities["row"].ids.tolist() == expected.index.tolist()
        assert data.entities["column"].ids.tolist() == expected.columns.tolist()
        assert (data.matrix().toarray() == expected.to_numpy()).all()


def test_real_counts(data_dir: Path) -> None:
    path = data_dir / "nips" / "counts.parquet"
    data = read(path, "doc", "word", "n")
    expected = RelationalData.from_frame(pq.read_table(path), "doc", "word", "n")
    assert data.fingerprint() == expected.fingerprint()


# what is refused


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        ("", "it is missing. Give each a number, or drop those rows."),
        ("abc", "'abc' is not a number. Correct it."),
        ("nan", "'nan' stands for a missing number."),
        ("inf", "'inf' is not finite."),
        ("-inf", "'-inf' is not finite."),
        ("-1", "'-1' is negative."),
        ("1.2.3", "'1.2.3' is not a number."),
        ("NA", "'NA' stands for a missing number."),
        ("1.672,11", "'1.672,11' looks like a number with a thousands separator. Write all numbers without"),
        ("1,500", "'1,500' looks like a number with a thousands separator."),
        ("1,234.5", "'1,234.5' looks like a number with a thousands separator."),
        ("1,5", "'1,5' has a decimal comma. Write decimal points here"),
        ("-1,5", "'-1,5' has a decimal comma."),
        ("1__0", "'1__0' is not a number."),
        ("\u0661", "'\u0661' is not written as numbers are here. Write it plainly"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_bad_weights_are_refused_by_row_and_cause(
    tmp_path: Path, value: str, cause: str, ending: str
) -> None:
    table = pa.table({"doc": ["a", "b\nb", "c", "d"], "word": list("xyzz"), "n": ["1", "2", value, value]})
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        pq.write_table(table, path)
    elif ending == "csv":
        table.to_pandas().to_csv(path, index=False)
    else:
        write(path, "".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    place = {"csv": "line 5", "jsonl": "record 3", "parquet": "row 3"}[ending]
    with pytest.raises(DataError) as caught:
        read(path, "doc", "word", "n")
    message = str(caught.value)
    assert f"t.{ending}: column 'n' has 2 weights" in message
    assert f"the first at {place}: {cause}" in message


def test_native_weights_are_refused_too(tmp_path: Path) -> None:
    for value in (None, float("nan"), float("inf"), -0.5):
        pq.write_table(
            pa.table({"doc": ["a"], "word": ["x"], "n": pa.array([value], pa.float64())}),
            tmp_path / "t.parquet",
        )
        with pytest.raises(DataError, match=r"column 'n' has 1 weights .* row 1"):
            read(tmp_path / "t.parquet", "doc", "word", "n")
    pq.write_table(
        pa.table({"doc": ["a"], "word": ["x"], "n": [pd.Timestamp("2020")]}), tmp_path / "t.parquet"
    )
    with pytest.raises(DataError, match="2020-01-01"):
        read(tmp_path / "t.parquet", "doc", "word", "n")


def test_negative_weights_may_be_let_through(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "doc,word,n\na,x,-1.5\n")
    assert entries(read(path, "doc", "word", "n", allow_negative=True)) == {("a", "x"): -1.5}
    with pytest.raises(DataError, match=r"'-1\.5' is negative.*allow_negative"):
        read(path, "doc", "word", "n")


@pytest.mark.parametrize(
    ("contents", "column"), [("doc,word\na,x\n,x\n", "doc"), ('doc,word\na,x\nb,""\n', "word")]
)
def test_missing_ids_are_refused_by_line(tmp_path: Path, contents: str, column: str) -> None:
    path = write(tmp_path / "t.csv", contents)
    with pytest.raises(DataError, match=rf"t\.csv: column '{column}' has 1 missing ids, the first at line 3"):
        read(path, "doc", "word")


def test_missing_ids_of_other_types(tmp_path: Path) -> None:
    pq.write_table(pa.table({"doc": [1.0, float("nan")], "word": ["x", "y"]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="column 'doc' has 1 missing ids, the first at row 2"):
        read(tmp_path / "t.parquet", "doc", "word")
    pq.write_table(pa.table({"doc": [[1]], "word": ["x"]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="ids must be text, numbers or dates"):
        read(tmp_path / "t.parquet", "doc", "word")


@pytest.mark.parametrize(
    ("name", "contents"), [("t.csv", ""), ("t.csv", "\n\n"), ("t.jsonl", " \n"), ("t.csv", "doc,word\n")]
)
def test_empty_tables(tmp_path: Path, name: str, contents: str) -> None:
    path = write(tmp_path / name, contents)
    with pytest.raises(DataError, match=r"t\..*(is empty|no rows)"):
        read(path, "doc", "word")


def test_empty_tables_of_other_formats(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"doc": pa.array([], pa.string()), "word": pa.array([], pa.string())}),
        tmp_path / "t.parquet",
    )
    with pytest.raises(DataError, match="no rows"):
        read(tmp_path / "t.parquet", "doc", "word")
    with pytest.raises(DataError, match="no rows"):
        read(as_xlsx(tmp_path / "t.xlsx", [["doc", "word"]]), "doc", "word")
    with pytest.raises(DataError, match="is empty"):
        read(as_xlsx(tmp_path / "e.xlsx", []), "doc", "word")


def test_an_unknown_column_lists_those_there_are(tmp_path: Path) -> None:
    first, second = make(tmp_path, "csv"), write(tmp_path / "other.csv", "docs,word\na,x\n")
    with pytest.raises(
        UnknownNameError, match=r"no column 'wrod' in .*links\.csv\. Did you mean 'word'\?.*'doc'"
    ):
        read(first, "doc", "wrod")
    with pytest.raises(UnknownNameError, match=r"other\.csv"):
        read([first, second], "doc", "word")
    with pytest.raises(UnknownNameError, match="'m'"):
        read(first, "doc", "word", "m")


def test_bad_parameters(tmp_path: Path) -> None:
    path = make(tmp_path, "csv")
    with pytest.raises(ParameterError, match="only rows is given"):
        read(path, rows="doc")
    with pytest.raises(ParameterError, match="only columns is given"):
        read(path, columns="doc")
    with pytest.raises(ParameterError, match="same_kind"):
        read(path, "doc", "doc")
    with pytest.raises(ParameterError, match="give rows and columns too"):
        read(path, weight="n")
    with pytest.raises(ParameterError, match="name at least one"):
        read([], "doc", "word")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    make(tmp_path, "csv")
    with pytest.raises(StorageError, match=r"there is no file .*link\.csv.*Did you mean '.*/links\.csv'"):
        read(tmp_path / "link.csv", "doc", "word")
    with pytest.raises(StorageError, match="Nor is there a folder"):
        read(tmp_path / "nowhere" / "x.csv", "doc", "word")
    with pytest.raises(StorageError, match="no file matches"):
        read(tmp_path / "*.parquet", "doc", "word")
    with pytest.raises(StorageError, match=r"is a folder, not a table.*read_text"):
        read(tmp_path, "doc", "word")


def test_files_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    paths = [make(tmp_path, "csv"), make(tmp_path, "parquet")]
    monkeypatch.setattr("pyarrow.input_stream", refuse)
    monkeypatch.setattr(Path, "open", refuse)
    for path in paths:
        with pytest.raises(StorageError, match="no permission"):
            read(path, "doc", "word")


@pytest.mark.parametrize("name", ["t.docx", "t", "t.txt", "t.gz", ".csv"])
def test_unknown_endings(tmp_path: Path, name: str) -> None:
    with pytest.raises(FormatError, match=r"the ending does not tell.*'\.parquet'"):
        read(write(tmp_path / name, "doc,word\n"), "doc", "word")


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather", "xlsx", "xls", "ods"])
@pytest.mark.parametrize("contents", [b"", b"doc,word\na,x\n", b"\x00\x01\x02\xff" * 9])
def test_binary_names_with_other_contents(tmp_path: Path, ending: str, contents: bytes) -> None:
    path = write(tmp_path / f"t.{ending}", contents)
    with pytest.raises(FormatError, match=rf"t\.{ending} is named as"):
        read(path, "doc", "word")


@pytest.mark.parametrize("ending", ["parquet", "arrow", "xlsx"])
def test_binary_files_cut_off(tmp_path: Path, ending: str) -> None:
    path = make(tmp_path, ending)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(FormatError, match=rf"links\.{ending}"):
        read(path, "doc", "word")


@pytest.mark.parametrize("form", ["parquet", "feather", "xlsx", "csv.gz"])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_text_names_with_binary_contents(tmp_path: Path, form: str, ending: str) -> None:
    path = write(tmp_path / f"t.{ending}", make(tmp_path, form).read_bytes())
    with pytest.raises(FormatError, match="not a text file"):
        read(path, "doc", "word")


def test_compression_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be decompressed"):
        read(write(tmp_path / "t.csv.gz", long_text()), "doc", "word")
    cut = make(tmp_path, "csv.gz").read_bytes()[:-12]
    with pytest.raises(FormatError, match="cannot be decompressed"):
        read(write(tmp_path / "t.csv.gz", cut), "doc", "word")
    with pytest.raises(FormatError, match="decompress it first"):
        read(write(tmp_path / "t.parquet.gz", b"x"), "doc", "word")


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ("doc,word\na,x\nb\n", "line 3: 1 fields where the first line has 2"),
        ("doc,word\na,x\nb,y,z\nc,w\n", "line 3: 3 fields where the first line has 2"),
        ('doc,word\na,x\nb,"y\n', "line 3: a quote is opened"),
        ('doc,word\na,x\nb,"y" z\n', "line 3: a quote is opened"),
        ("doc,word\r\na,x\nb,y\r\n", "all lines end in the same way"),
    ],
)
def test_broken_csv(tmp_path: Path, contents: str, message: str) -> None:
    for encoding in ("utf-8", "utf-16"):
        path = write(tmp_path / "broken.csv", contents.encode(encoding))
        with pytest.raises(FormatError, match=rf"broken\.csv.*{message}"):
            read(path, "doc", "word")


@pytest.mark.parametrize(
    "contents", ['{"doc": 1\n{"doc": 2}\n', "doc,word\na,x\n", '{"doc": 1}\n{"doc"}\n', "1\n2\n"]
)
def test_broken_json(tmp_path: Path, contents: str) -> None:
    path = write(tmp_path / "broken.jsonl", contents)
    with pytest.raises((FormatError, UnknownNameError), match=r"broken\.jsonl"):
        read(path, "doc", "word")


def test_repeated_column_names(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"t\.csv: the column names 'doc' repeat"):
        read(write(tmp_path / "t.csv", "doc,word,doc\na,x,b\n"), "doc", "word")


def test_excel_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path, "xlsx")
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match=r"relscape\[excel\]"):
        read(path, "doc", "word")


def test_nothing_else_escapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "_sorted_ids", lambda session, *_: session.rows("SELECT nonsense"))
    with pytest.raises(FormatError, match=r"links\.csv cannot be read"):
        read(make(tmp_path, "csv"), "doc", "word")


# attributes and plain tables


def test_fields_attach_to_things(tmp_path: Path) -> None:
    path = write(tmp_path / "docs.csv", "doc,class,year,size,code\nd2,b,2001,1.5,007\nd1,a,NA,2,010\n")
    ids, fields = read_fields(path)
    assert ids.tolist() == ["d2", "d1"]
    assert fields["class"].tolist() == ["b", "a"]
    assert fields["size"].tolist() == [1.5, 2.0]
    assert fields["code"].tolist() == ["007", "010"]
    assert fields["year"][0] == 2001 and np.isnan(fields["year"][1])
    things = EntitySet("doc", np.array(["d1", "d2", "d3"], dtype=object)).with_fields(ids, fields)
    assert things.fields["class"].tolist() == ["a", "b", None]


def test_fields_of_native_types(tmp_path: Path) -> None:
    table = pa.table({"v": [1, 2], "ok": [True, False], "id": [5, 6], "when": [pd.Timestamp("2020"), None]})
    pq.write_table(table, tmp_path / "t.parquet")
    ids, fields = read_fields(tmp_path / "t.parquet", "id")
    assert ids.tolist() == ["5", "6"]
    assert fields["v"].dtype.kind == "i"
    assert fields["ok"].tolist() == [True, False]
    assert fields["when"].tolist() == ["2020-01-01 00:00:00", None]


def test_bad_fields(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 'id,v\na,"x\ny"\nb,1\na,2\nb,2\n')
    with pytest.raises(DataError, match=r"t\.csv: column 'id' .* 2 ids repeat: 'a' at line 2 and line 5"):
        read_fields(path)
    with pytest.raises(DataError, match="missing ids, the first at line 2"):
        read_fields(write(tmp_path / "m.csv", "id,v\n,1\n"))
    with pytest.raises(DataError, match="no rows"):
        read_fields(write(tmp_path / "e.csv", "id,v\n"))
    with pytest.raises(UnknownNameError, match="'name'"):
        read_fields(path, "name")
    with pytest.raises(ParameterError, match="3 files match"):
        read_fields(tmp_path / "*.csv")


def test_read_table_recognises_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "id;a;b;c;d\n007;1;1,5;x;\n8;-2;2;1;\n")
    table = read_table(path)
    assert table.schema.types == [pa.string(), pa.int64(), pa.float64(), pa.string(), pa.string()]
    assert table.to_pylist()[0] == {"id": "007", "a": 1, "b": 1.5, "c": "x", "d": None}
    kept = read_table(path, ["b", "a"], as_text=["a"])
    assert kept.column_names == ["b", "a"]
    assert kept.column("a").to_pylist() == ["1", "-2"]
    with pytest.raises(UnknownNameError, match=r"t\.csv"):
        read_table(path, ["z"])


def test_read_table_keeps_order_over_files(tmp_path: Path) -> None:
    for k in range(3):
        write(tmp_path / f"{k}.csv", "v\n" + "".join(f"{k * 10_000 + i}\n" for i in range(10_000)))
    assert read_table(tmp_path / "*.csv").column("v").to_pylist() == list(range(30_000))


def test_excel_cells(tmp_path: Path) -> None:
    stamp = pd.Timestamp("2020-01-02 03:04").to_pydatetime()
    path = as_xlsx(
        tmp_path / "t.xlsx",
        [
            ["id", "n", "x", "when", "mixed"],
            ["007", 1, 1.5, stamp, 1],
            [None] * 5,
            ["b", 2, None, stamp, "z"],
        ],
    )
    assert read_table(path).to_pylist() == [
        {"id": "007", "n": 1, "x": 1.5, "when": "2020-01-02T03:04:00", "mixed": "1"},
        {"id": "b", "n": 2, "x": None, "when": "2020-01-02T03:04:00", "mixed": "z"},
    ]
