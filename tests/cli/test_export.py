"""``relscape export``: every format from the command line, and what it says when it cannot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import relscape as rs


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("out.csv", None),
        ("out.parquet", None),
        ("out.vec", None),
        ("out.bin", None),
        ("out.graphml", None),
        ("out.gexf", None),
        ("board", "tensorboard"),
        ("atlas.parquet", "embedding-atlas"),
    ],
)
def test_every_format(relscape, made, name, format_name):
    chosen = () if format_name is None else ("--format", format_name)
    done = relscape("export", made, "-o", name, *chosen, "--json")
    assert done.code == 0, done.err
    assert done.json["sizes"] == {"doc": 4, "word": 4}
    assert done.json["dimensions"] == 2
    assert Path(name).exists()
    again = relscape("export", made, "-o", name, *chosen)
    assert again.code == 0
    assert "4 × doc and 4 × word as" in again.out
    assert "next: relscape info maps/pairs" in again.out


def test_cells(relscape, made):
    anndata = pytest.importorskip("anndata")
    assert relscape("export", made, "-o", "out.h5ad").code == 0
    joint = rs.Map.load(made)
    cells = anndata.read_h5ad("out.h5ad")
    np.testing.assert_array_equal(cells.obsm["X_relscape"], joint.coordinates("doc"))
    np.testing.assert_array_equal(cells.X.toarray(), joint.relations["doc-word"].matrix.toarray())


def test_some_kinds_and_the_picture(relscape, pairs):
    columns = ("--rows", "doc", "--columns", "word", "--weight", "n")
    assert relscape("coembed", pairs, *columns, "-k", 3, "-o", "m").code == 0
    assert relscape("export", "m", "-o", "words.vec", "--kinds", "word").code == 0
    lines = Path("words.vec").read_text().splitlines()
    assert lines[0] == "4 3"
    assert [line.split()[0] for line in lines[1:]] == ["bird", "cat", "dog", "fish"]
    assert relscape("export", "m", "-o", "flat.parquet", "--layout", "--kinds", "word,doc").code == 0
    table = pq.read_table("flat.parquet")
    assert "z2" not in table.column_names
    assert table.column("z0").to_pylist() == table.column("x").to_pylist()
    assert table.column("kind").to_pylist() == ["word"] * 4 + ["doc"] * 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "out.docx"), "does not tell the format"),
        (("-o", "out"), "does not tell the format"),
        (("-o", "out.csv", "--format", "cvs"), "no format 'cvs'. Did you mean 'csv'?"),
        (("-o", "out.csv", "--format", "parquet"), "ends as csv does"),
        (("-o", "out.csv", "--kinds", "dog"), "no kind 'dog'"),
        (("-o", "out.csv", "--kinds", ","), "at least one kind"),
        (("-o", "pairs.csv"), "no earlier export as csv"),
        (("-o", "maps/pairs", "--format", "tensorboard"), "holds something else"),
    ],
)
def test_bad_input(relscape, made, arguments, message):
    before = Path("pairs.csv").read_bytes()
    done = relscape("export", made, *arguments)
    assert done.code == 1
    assert message in " ".join(done.err.split())
    assert Path("pairs.csv").read_bytes() == before
    assert not Path("out.csv").exists()


def test_no_map(relscape):
    done = relscape("export", "nowhere", "-o", "out.csv")
    assert done.code == 1
    assert "no map at nowhere" in done.err
