"""Files of other programs straight from the command line."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import relscape as rs

GENES = ["g0", "g1", "g2", "g3", "g4"]


def counts(cells: int = 24) -> np.ndarray:
    """Counts of two sorts of cells, each with genes of its own."""
    rng = np.random.default_rng(0)
    rates = np.where(np.arange(cells)[:, None] % 2 == 0, [9, 6, 3, 1, 1], [1, 1, 3, 6, 9])
    return rng.poisson(rates * rng.uniform(1, 5, size=(cells, 1))) + 1


@pytest.fixture
def cells(tmp_path):
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")

    def write(name: str, start: int = 0, stop: int = 24) -> Path:
        names = [f"c{i}" for i in range(start, stop)]
        sorts = ["even" if i % 2 == 0 else "odd" for i in range(start, stop)]
        obs = pd.DataFrame({"sort": sorts}, index=names)
        table = counts()[start:stop]
        data = anndata.AnnData(
            sp.csr_matrix(table.astype(np.float32)),
            obs=obs,
            var=pd.DataFrame(index=GENES),
            layers={"other": sp.csr_matrix(table[::-1].astype(np.float32))},
        )
        data.write_h5ad(tmp_path / name)
        return tmp_path / name

    return write


def embedded(data):
    return rs.CorrespondenceAnalysis().fit(data).row_embedding_


def test_anndata_becomes_a_map(relscape, cells):
    path = cells("cells.h5ad")
    done = relscape("coembed", path)
    assert done.code == 0, done.err
    assert "24 × cell and 5 × gene" in done.out
    joint = rs.Map.load("maps/cells")
    np.testing.assert_allclose(joint.coordinates("cell"), embedded(counts()), atol=1e-5)
    assert joint.group("cell").fields["sort"].tolist()[:2] == ["even", "odd"]


def test_layers_size_factors_and_logarithms(relscape, cells):
    path = cells("cells.h5ad")
    kinds = ("--rows", "barcode", "--columns", "symbol")
    options = ("--layer", "other", "--size-factors", 100, "--log1p", *kinds)
    assert relscape("coembed", path, *options).code == 0
    joint = rs.Map.load("maps/cells")
    table = counts()[::-1]
    expected = np.log1p(100 * table / table.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(joint.coordinates("barcode"), embedded(expected), atol=1e-5)
    told = joint.provenance["source"]
    assert told["layer"] == "other"
    assert told["size_factors"] == 100
    assert told["log1p"] is True


def test_new_cells_are_weighed_as_the_map_was(relscape, cells):
    old, new = cells("old.h5ad", 0, 20), cells("new.h5ad", 20, 24)
    assert relscape("coembed", old, "--size-factors", 100, "--log1p", "-o", "m").code == 0
    done = relscape("place", "m", new, "-o", "grown", "--json")
    assert done.code == 0, done.err
    assert done.json["placed"] == 4
    table = counts()
    weighed = np.log1p(100 * table / table.sum(axis=1, keepdims=True))
    model = rs.CorrespondenceAnalysis().fit(weighed[:20])
    grown = rs.Map.load("grown").group("cell")
    at = [grown.places[f"c{i}"] for i in range(20, 24)]
    np.testing.assert_allclose(grown.coordinates[at], model.transform(weighed[20:]), atol=1e-5)


def test_cohorts_of_cells(relscape, cells):
    options = ("--label", "sort", "--size-factors", 100, "--log1p", "--json")
    done = relscape("cohorts", cells("cells.h5ad"), *options)
    assert done.code == 0, done.err
    joint = rs.Map.load("maps/cells")
    assert sorted(joint.group("cohort").ids) == ["even", "odd"]
    assert len(joint.group("cell")) == 24


def test_a_folder_of_10x(relscape, tmp_path):
    folder = tmp_path / "filtered"
    folder.mkdir()
    text = io.BytesIO()
    scipy.io.mmwrite(text, sp.coo_array(counts().T))
    (folder / "matrix.mtx.gz").write_bytes(gzip.compress(text.getvalue()))
    lines = "".join(f"{name}\tname {name}\tGene Expression\n" for name in GENES)
    (folder / "features.tsv.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "barcodes.tsv.gz").write_bytes(gzip.compress("".join(f"c{i}\n" for i in range(24)).encode()))
    done = relscape("coembed", f"{folder}/")
    assert done.code == 0, done.err
    joint = rs.Map.load("maps/filtered")
    np.testing.assert_allclose(joint.coordinates("cell"), embedded(counts()), atol=1e-9)
    assert joint.group("gene").labels.tolist()[0] == "name g0"


def test_a_matrix_with_names(relscape, tmp_path):
    scipy.io.mmwrite("m.mtx", sp.coo_array(counts()))
    Path("genes.txt").write_text("\n".join(GENES))
    done = relscape("coembed", "m.mtx", "--column-names", "genes.txt", "--rows", "cell", "--columns", "gene")
    assert done.code == 0, done.err
    joint = rs.Map.load("maps/m")
    assert joint.group("gene").ids.tolist() == GENES
    assert joint.provenance["source"]["column_names"] == "genes.txt"
    sp.save_npz("n.npz", sp.csr_array(counts()))
    assert relscape("coembed", "n.npz").code == 0
    other = rs.Map.load("maps/n")
    np.testing.assert_allclose(other.coordinates("row"), joint.coordinates("cell"), atol=1e-12)


def test_ratings(relscape, tmp_path):
    table = counts()
    lines = [f"{i}::{j}::{table[i, j]}::978300760\n" for i in range(24) for j in range(5)]
    Path("ratings.dat").write_text("".join(lines))
    done = relscape("coembed", "ratings.dat")
    assert done.code == 0, done.err
    joint = rs.Map.load("maps/ratings")
    at = [joint.group("user").places[str(i)] for i in range(24)]
    np.testing.assert_allclose(joint.coordinates("user")[at], embedded(counts()), atol=1e-9)


BIB = """@article{{p{n}, title = {{{title}}}, author = {{{author}}}, year = {year}}}
"""


def test_publications_are_maps_of_many_kinds(relscape, tmp_path):
    titles = ["maps of cats", "maps of dogs", "dogs and cats", "trees and maps", "trees of dogs"]
    titles += ["cats in trees"]
    authors = ["Ada and Ben", "Ben", "Cleo", "Ada", "Cleo and Ben", "Ada and Cleo"]
    entries = [
        BIB.format(n=n, title=title, author=author, year=2000 + n)
        for n, (title, author) in enumerate(zip(titles, authors, strict=True))
    ]
    Path("refs.bib").write_text("".join(entries))
    done = relscape("coembed", "refs.bib", "--min-df", 2, "-o", "all", "--json")
    assert done.code == 0, done.err
    assert done.json["sizes"] == {"paper": 6, "word": 6, "author": 3}
    done = relscape("coembed", "refs.bib", "--relation", "paper-author", "-o", "one", "--json", "-k", 1)
    assert done.code == 0, done.err
    assert done.json["sizes"] == {"paper": 6, "author": 3}
    Path("new.bib").write_text(BIB.format(n=9, title="birds", author="Ada", year=2024))
    done = relscape("place", "one", "new.bib", "--json")
    assert done.code == 0, done.err
    assert done.json["placed"] == 1
    done = relscape("coembed", "refs.bib", "--method", "ca")
    assert done.code == 1
    assert "name one relation" in " ".join(done.err.split())


def test_a_graph_is_a_table_of_links(relscape, tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = networkx.gnp_random_graph(20, 0.3, seed=0, directed=True)
    networkx.write_graphml(graph, "links.graphml")
    Path("links.csv").write_text("from,to\n" + "".join(f"{a},{b}\n" for a, b in graph.edges))
    options = ("--method", "links", "--components", 2)
    for name in ("links.graphml", "links.csv"):
        done = relscape("network", name, *options, "-o", f"maps/{name}", "--json")
        assert done.code == 0, done.err
    first, second = (rs.Map.load(f"maps/links.{ending}").group("document") for ending in ("graphml", "csv"))
    assert sorted(first.ids) == sorted(second.ids)
    done = relscape("coembed", "links.graphml", "--rows", "page")
    assert done.code == 0, done.err
    assert "20 × page-row and 20 × page-column" in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("m.mtx", "--layer", "X"), "--layer has no meaning for m.mtx, which is a matrix"),
        (("m.mtx", "--weight", "n"), "--weight has no meaning"),
        (("m.mtx", "--size-factors", "-1"), "size_factors is -1.0"),
        (("m.mtx", "--row-names", "nowhere.txt"), "no file 'nowhere.txt'"),
        (("pairs.csv", "--log1p"), "--log1p: for matrices"),
        (("pairs.csv", "--row-names", "m.mtx"), "--row-names: for matrices"),
        (("m.mtx", "pairs.csv"), "different forms"),
        (("bad.h5ad",), "bad.h5ad is not an AnnData file"),
        (("bad.npz",), "bad.npz is not a sparse matrix"),
        (("negative.mtx",), "1 entries are negative"),
        (("refs.bib",), "not closed"),
    ],
)
def test_bad_input(relscape, pairs, arguments, message):
    scipy.io.mmwrite("m.mtx", sp.coo_array(counts()))
    scipy.io.mmwrite("negative.mtx", sp.coo_array(np.array([[1.0, -1.0]])))
    for name in ("bad.h5ad", "bad.npz"):
        Path(name).write_bytes(b"something else")
    Path("refs.bib").write_text("@article{a, title = {x")
    done = relscape("coembed", *arguments)
    assert done.code == 1
    assert message in " ".join(done.err.split())
