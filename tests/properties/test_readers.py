"""Every reader, given whatever: the right relation, or one refusal that names the file."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import math
import sqlite3
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st
from scipy.io import mmwrite
from scipy.sparse import csr_array, save_npz
from tests.campaigns import campaign, only_refusals
from tests.damage import any_text, damaged_bytes

import relscape as rs
from relscape.data import RelationalData
from relscape.data.triples import KnowledgeGraph

PAIRS = {
    "doc": ["d1", "d1", "d2", "d3", "d3", "d2"],
    "word": ["cat", "dog", "cat", "fish", "dog", "ü魚"],
    "n": [1.0, 2.5, 3.0, 4.0, 1.0, 2.0],
}
TABLE = pa.table(PAIRS)


def _csv(separator: str) -> bytes:
    lines = [separator.join(PAIRS)]
    lines += [separator.join(map(str, row)) for row in zip(*PAIRS.values(), strict=True)]
    return "\n".join([*lines, ""]).encode()


def _written(write: Any) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def _workbook() -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    for row in [list(PAIRS), *zip(*PAIRS.values(), strict=True)]:
        book.active.append(list(row))
    return _written(book.save)


def _cells() -> bytes:
    import anndata
    import pandas as pd

    obs = pd.DataFrame({"type": ["a", "b", "a"]}, index=["c1", "c2", "c3"])
    made = anndata.AnnData(csr_array([[1.0, 0], [0, 2], [3, 1]]), obs, pd.DataFrame(index=["g1", "g2"]))
    with tempfile.TemporaryDirectory() as folder:
        made.write_h5ad(Path(folder) / "a.h5ad")
        return (Path(folder) / "a.h5ad").read_bytes()


def _database(engine: str) -> bytes:
    """A table of pairs as a file of SQLite or DuckDB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        connection = sqlite3.connect(path) if engine == "sqlite" else duckdb.connect(str(path))
        connection.execute("CREATE TABLE pairs (doc TEXT, word TEXT, n REAL)")
        connection.executemany("INSERT INTO pairs VALUES (?, ?, ?)", list(zip(*PAIRS.values(), strict=True)))
        connection.commit()
        connection.close()
        return path.read_bytes()


def _opendocument() -> bytes:
    """The smallest workbook of OpenDocument with the pairs."""
    cells = [list(PAIRS), *zip(*PAIRS.values(), strict=True)]
    rows = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="float" office:value="{cell}"/>'
            if isinstance(cell, float)
            else f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>'
            for cell in row
        )
        + "</table:table-row>"
        for row in cells
    )
    space = "urn:oasis:names:tc:opendocument:xmlns"
    names = "".join(f' xmlns:{name}="{space}:{name}:1.0"' for name in ("office", "table", "text"))
    content = (
        f'<?xml version="1.0"?><office:document-content{names} office:version="1.2"><office:body>'
        f'<office:spreadsheet><table:table table:name="t">{rows}</table:table></office:spreadsheet>'
        "</office:body></office:document-content>"
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", f'<m:manifest xmlns:m="{space}:manifest:1.0"/>')
    return stream.getvalue()


MATRIX = csr_array([[1.0, 0, 2], [0, 3, 0]])
GRAPHML = b"""<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="w" for="edge" attr.name="weight" attr.type="double"/>
<key id="l" for="node" attr.name="label" attr.type="string"><default>none</default></key>
<graph edgedefault="directed"><node id="a"><data key="l">A</data></node><node id="b"/>
<edge source="a" target="b"><data key="w">2.5</data></edge></graph></graphml>"""
BIB = b"""@article{knuth84, author = {Knuth, Donald E. and Lamport, L.}, title = {Literate {P}rogramming},
  year = 1984, keywords = {web, tex}, abstract = "Words and words on programs"}
@string{cj = "Computer Journal"}
@book{lamport94, author = "Leslie Lamport", title = {LaTeX: words}, publisher = cj # { co}, year = {1994}}
"""
FILES: dict[str, bytes] = {
    "a.csv": _csv(","),
    "a.tsv": _csv("\t"),
    "a.csv.gz": gzip.compress(_csv(","), mtime=0),
    "a.csv.bz2": bz2.compress(_csv(",")),
    "a.csv.zst": pa.compress(_csv(","), codec="zstd", asbytes=True),
    "a.sqlite": _database("sqlite"),
    "a.duckdb": _database("duckdb"),
    "a.ods": _opendocument(),
    "t.txt": "The reef is a city; the fish of the reef, its citizens. Été à Besançon.".encode(),
    "t.csv": b'title,abstract\nreef,"fish and coral, coral and fish"\ntide,the moon pulls the sea\n',
    "10x/matrix.mtx": b"%%MatrixMarket matrix coordinate integer general\n2 3 3\n1 1 4\n2 2 1\n2 3 7\n",
    "10x/features.tsv": b"G1\tACTB\tGene Expression\nG2\tCD3E\tGene Expression\n",
    "10x/barcodes.tsv": b"AAAC-1\nAAAG-1\nAAAT-1\n",
    "a.jsonl": b"".join(
        json.dumps(dict(zip(PAIRS, row, strict=True))).encode() + b"\n"
        for row in zip(*PAIRS.values(), strict=True)
    ),
    "a.json": json.dumps(
        [dict(zip(PAIRS, row, strict=True)) for row in zip(*PAIRS.values(), strict=True)]
    ).encode(),
    "a.parquet": _written(lambda stream: pq.write_table(TABLE, stream)),
    "a.arrow": _written(lambda stream: pyarrow.feather.write_feather(TABLE, stream, compression="zstd")),
    "a.xlsx": _workbook(),
    "wide.csv": b"name,x,y\na,1,0\nb,2,3\nc,0,4\n",
    "m.npz": _written(lambda stream: save_npz(stream, MATRIX)),
    "m.mtx": _written(lambda stream: mmwrite(stream, MATRIX)),
    "m.mtx.gz": gzip.compress(_written(lambda stream: mmwrite(stream, MATRIX)), mtime=0),
    "c.h5ad": _cells(),
    "g.graphml": GRAPHML,
    "ratings.dat": b"1::10::5::978300760\n1::20::3::978302109\n2::10::4::978301968\n",
    "p.bib": BIB,
}
FACTS = {
    "train.txt": b"uk\ttrades\tus\nus\ttrades\tfr\nfr\tborders\tde\n",
    "train.csv": b"head,relation,tail,weight\nuk,trades,us,1\nus,trades,fr,2\n",
    "train.parquet": _written(
        lambda stream: pq.write_table(
            pa.table({"head": ["a", "b"], "relation": ["r", "r"], "tail": ["b", "c"]}), stream
        )
    ),
    "g.nt": b'<http://a/b> <http://a/r> <http://a/c> .\n<http://a/b> <http://a/n> "x"@en .\n',
    "g.ttl": b"@prefix a: <http://a/> .\na:b a:r a:c, a:d ; a:n 3 .\n_:x a:r a:b .\n",
    "g.rdf": b'<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    b'xmlns:a="http://a/"><rdf:Description rdf:about="http://a/b"><a:r rdf:resource="http://a/c"/>'
    b"</rdf:Description></rdf:RDF>",
    "g.nq": b"<http://a/b> <http://a/r> <http://a/c> <http://a/g> .\n",
    "g.trig": b"@prefix a: <http://a/> .\na:g { a:b a:r a:c . }\n",
}


def _sound(data: RelationalData) -> None:
    """What every relation that was read promises."""
    assert data.relations
    for relation in data.relations.values():
        rows, columns = data.entities[relation.rows], data.entities[relation.columns]
        assert relation.matrix.shape == (len(rows), len(columns))
        assert np.isfinite(relation.matrix.data).all()
        for entities in (rows, columns):
            assert len(set(entities.ids.tolist())) == len(entities)
            assert all(isinstance(name, str) for name in entities.ids.tolist())


def _read_pairs(path: Path) -> RelationalData:
    if path.parent.name == "10x":
        return rs.read_10x(path.parent)
    if path.name.startswith("t."):
        return rs.read_text(path, "abstract", "title") if path.suffix == ".csv" else rs.read_text(path)
    if path.suffix in (".sqlite", ".duckdb"):
        return rs.read(f"{path}#pairs", "doc", "word", "n")
    long = path.name.startswith("a.")
    return rs.read(path, "doc", "word", "n") if long else rs.read(path)


def _put(folder: Path, name: str, content: bytes) -> Path:
    """Write a file of the collection, and what belongs to its folder beside it."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    for other, whole in FILES.items():
        if "/" in other and other.split("/")[0] == path.parent.name:
            (folder / other).write_bytes(whole)
    path.write_bytes(content)
    return path


def _read_facts(path: Path) -> KnowledgeGraph:
    if path.name.startswith("train"):
        return KnowledgeGraph.from_directory(path.parent)
    return KnowledgeGraph.from_rdf(path)


@pytest.mark.filterwarnings("ignore::relscape.errors.RelscapeWarning")
@pytest.mark.parametrize("name", [*FILES, *FACTS])
def test_the_files_themselves_are_read(tmp_path: Path, name: str) -> None:
    path = _put(tmp_path, name, {**FILES, **FACTS}[name])
    if name in FACTS:
        assert len(_read_facts(path).train) >= 1
    else:
        _sound(_read_pairs(path))


@pytest.mark.parametrize("name", FILES)
@campaign(few=6, many=2000, data=st.data())
def test_damaged_files(tmp_path: Path, name: str, data: st.DataObject) -> None:
    path = _put(tmp_path, name, data.draw(damaged_bytes(FILES[name])))
    with only_refusals():
        _sound(_read_pairs(path))


@pytest.mark.parametrize("name", FACTS)
@campaign(few=6, many=2000, data=st.data())
def test_damaged_facts(tmp_path: Path, name: str, data: st.DataObject) -> None:
    path = tmp_path / name
    path.write_bytes(data.draw(damaged_bytes(FACTS[name])))
    with only_refusals():
        graph = _read_facts(path)
        assert graph.train.min() >= 0
        assert graph.train[:, [0, 2]].max() < len(graph.entities)
        assert graph.train[:, 1].max() < len(graph.relations)


ids = st.one_of(
    any_text, st.sampled_from(["a", "b", "007", "1.0", "NA", "nan", "null", " a", '"', ",", "\n", "a\tb"])
)
weights = st.one_of(
    st.floats(0, 1e6), st.integers(0, 5), st.sampled_from([0.0, 1e-300, 1e300, -1.0, math.nan, math.inf])
)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
@campaign(
    few=10, many=2000,
    lines=st.lists(st.tuples(ids, ids, weights), max_size=8),
)  # fmt: skip
def test_any_pairs_are_read_right_or_refused(
    tmp_path: Path, form: str, lines: list[tuple[str, str, float]]
) -> None:
    """Whatever stands in a table, every weight comes back as the sum for its pair."""
    path = tmp_path / f"t.{form}"
    _write_pairs(path, form, lines)
    with only_refusals():
        data = rs.read(path, "from", "to", "w")
        _sound(data)
        relation = data.relation()
        sums: dict[tuple[str, str], float] = {}
        for one, other, weight in lines:
            sums[one, other] = sums.get((one, other), 0.0) + weight
        rows, columns = data.entities["from"].ids.tolist(), data.entities["to"].ids.tolist()
        matrix = relation.matrix.toarray()
        found = {
            (row, column): matrix[i, j]
            for i, row in enumerate(rows)
            for j, column in enumerate(columns)
            if matrix[i, j]
        }
        expected = {pair: total for pair, total in sums.items() if total}
        assert found.keys() == expected.keys()
        for pair, total in expected.items():
            assert found[pair] == pytest.approx(total, rel=1e-12)


def _write_pairs(path: Path, form: str, lines: list[tuple[str, str, float]]) -> None:
    columns = [list(column) for column in zip(*lines, strict=True)] or [[], [], []]
    table = pa.table(
        {
            "from": pa.array(columns[0], pa.string()),
            "to": pa.array(columns[1], pa.string()),
            "w": pa.array([float(w) for w in columns[2]], pa.float64()),
        }
    )
    if form == "parquet":
        pq.write_table(table, path)
    elif form == "arrow":
        pyarrow.feather.write_feather(table, path)
    elif form == "jsonl":
        rows = [json.dumps({"from": a, "to": b, "w": float(w)}) for a, b, w in lines]
        path.write_text("\n".join([*rows, ""]), encoding="utf-8")
    else:
        import csv

        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
            writer.writerow(["from", "to", "w"])
            writer.writerows([a, b, repr(float(w))] for a, b, w in lines)
