from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from relscape import datasets
from relscape.errors import DataError, FormatError, ParameterError, StorageError, UnknownNameError
from relscape.sources.catalogue import CATALOGUE


@pytest.mark.parametrize("name", [info.name for info in CATALOGUE.values() if info.tables])
def test_catalogue_has_the_published_row_counts(name: str, data_dir: Path) -> None:
    for table, expected in CATALOGUE[name].tables.items():
        stored = pq.ParquetFile(data_dir / name / f"{table}.parquet")
        assert stored.metadata.num_rows == expected.rows
        assert tuple(stored.schema_arrow.names) == expected.columns


@pytest.mark.parametrize(
    ("name", "docs", "words", "pairs", "links", "classes"),
    [
        ("cora", 2708, 1432, 49_216, 5429, 7),
        ("citeseer", 3312, 3703, 105_165, 4591, 6),
        ("webkb", 877, 1703, 79_365, 1516, 5),
    ],
)
def test_document_networks(
    name: str, docs: int, words: int, pairs: int, links: int, classes: int, data_dir: Path
) -> None:
    data = getattr(datasets, f"load_{name}")()
    assert [len(e) for e in data.entities.values()] == [docs, words]
    assert data.matrix("words").sum() == data.matrix("words").nnz == pairs
    assert data.matrix("links").sum() == data.matrix("links").nnz == links
    assert data.matrix("links").diagonal().sum() == 0
    assert len(set(data.entities["doc"].fields["class"])) == classes
    assert data.entities["doc"].ids.tolist() == sorted(data.entities["doc"].ids)
    # every stored link, read row by row, is where it should be
    place = {doc: i for i, doc in enumerate(data.entities["doc"].ids)}
    stored = pq.read_table(data_dir / name / "links.parquet").to_pylist()
    matrix = data.matrix("links").toarray()
    for row in stored[:500]:
        if row["cited"] != row["citing"] and {row["cited"], row["citing"]} <= set(place):
            assert matrix[place[row["cited"]], place[row["citing"]]] == 1


def test_newsgroups(data_dir: Path) -> None:
    data = datasets.load_newsgroups20()
    docs = data.entities["doc"]
    assert data.matrix("counts").shape == (19_997, 31_045)
    assert data.matrix("counts").nnz == 2_692_279
    sizes = np.unique(docs.fields["newsgroup"].astype(str), return_counts=True)[1]
    assert sorted(sizes.tolist()) == [997] + [1000] * 19
    assert set(docs.fields["bydate_split"]) == {"train", "test", "-"}
    stored = pq.read_table(data_dir / "newsgroups20" / "counts.parquet").slice(1_000_000, 50).to_pylist()
    words = data.entities["word"].ids.tolist()
    for row in stored:
        assert data.matrix()[docs.ids.tolist().index(row["doc"]), words.index(row["word"])] == row["n"]


def test_newsgroups_of_some_groups(data_dir: Path) -> None:
    part = datasets.load_newsgroups20(["sci.space", "rec.autos"])
    whole = datasets.load_newsgroups20()
    keep = np.isin(whole.entities["doc"].fields["newsgroup"].astype(str), ["sci.space", "rec.autos"])
    chosen = whole.select("doc", keep)
    chosen = chosen.select("word", np.asarray(chosen.matrix().sum(axis=0)).ravel() > 0)
    assert part.fingerprint() == chosen.fingerprint()
    with pytest.raises(UnknownNameError, match=r"Did you mean 'sci\.space'"):
        datasets.load_newsgroups20(["sci.spice"])
    with pytest.raises(ParameterError, match="groups is empty"):
        datasets.load_newsgroups20([])


def test_nips(data_dir: Path) -> None:
    data = datasets.load_nips()
    assert {kind: len(e) for kind, e in data.entities.items()} == {
        "doc": 1740,
        "word": 13_649,
        "author": 2037,
    }
    assert data.matrix("counts").nnz == 933_295
    assert data.matrix("authors").nnz == 3990
    assert data.matrix("citations").nnz == 1267
    assert data.entities["doc"].shown[0] == "Connectivity Versus Entropy"
    assert sorted(set(data.entities["doc"].fields["volume"])) == list(range(13))


def test_reuters_and_reviews(data_dir: Path) -> None:
    reuters = datasets.load_reuters21578()
    assert reuters.matrix("counts").nnz == 567_349
    topics, sizes = np.unique(reuters.entities["doc"].fields["topic"].astype(str), return_counts=True)
    assert topics.size == 66
    assert np.sort(sizes)[-10:].sum() == 8246
    assert (reuters.entities["doc"].fields["places"] == "").sum() == 645
    reviews = datasets.load_reviews()
    assert reviews.matrix("counts").nnz == 653_488
    assert set(reviews.entities["doc"].fields["domain"]) == {"books", "dvd", "electronics", "kitchen"}


def test_corel(data_dir: Path) -> None:
    data = datasets.load_corel5k()
    assert [len(e) for e in data.entities.values()] == [5000, 499, 374]
    assert data.matrix("blobs").nnz == 41_351
    assert data.matrix("tags").nnz == 17_610
    assert (data.entities["image"].fields["split"] == "test").sum() == 500


def test_shapes(data_dir: Path) -> None:
    sizes = {"compound": 399, "r15": 600, "flame": 240, "d31": 3100, "cassini": 1000}
    for name, size in sizes.items():
        shape = datasets.load_shapes2d(name)
        assert shape.points.shape == (size, 2)
        assert len(shape.labels) == size
    assert len(set(datasets.load_shapes2d("d31").labels)) == 31
    with pytest.raises(UnknownNameError, match="set of points"):
        datasets.load_shapes2d("r16")


@pytest.mark.parametrize(
    ("name", "entities", "relations", "facts"),
    [
        ("fb15k", 14_951, 1345, (483_142, 50_000, 59_071)),
        ("wn18", 40_943, 18, (141_442, 5000, 5000)),
        ("umls", 135, 46, (5216, 652, 661)),
        ("nations", 14, 55, (1592, 199, 201)),
    ],
)
def test_knowledge_graphs(
    name: str, entities: int, relations: int, facts: tuple[int, int, int], data_dir: Path
) -> None:
    graph = getattr(datasets, f"load_{name}")()
    assert (graph.n_entities, graph.n_relations) == (entities, relations)
    assert (len(graph.train), len(graph.valid), len(graph.test)) == facts
    assert graph.entities.tolist() == sorted(graph.entities)
    # some stored facts, read row by row, are where they should be
    stored = pq.read_table(data_dir / name / "test.parquet").to_pylist()[:200]
    assert graph.named(graph.test[: len(stored)]).tolist() == [list(row.values()) for row in stored]


def test_labels_fall_back_to_the_id(data_dir: Path) -> None:
    graph = datasets.load_fb15k()
    assert graph.entity_labels is not None
    assert (graph.entity_labels == graph.entities).sum() == 436
    assert graph.shown[graph.entity("/m/010016")] == "Denton"


def test_without_the_variable_the_message_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RELSCAPE_DATA", raising=False)
    with pytest.raises(
        StorageError, match=r"set RELSCAPE_DATA .*relscape datasets convert cora .*cora\.cites"
    ):
        datasets.load_cora()
    with pytest.raises(StorageError, match=r"set RELSCAPE_DATA .*images\.parquet \(image, split\).*Duygulu"):
        datasets.load_corel5k()


def test_missing_folder_table_or_column(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RELSCAPE_DATA", str(tmp_path))
    with pytest.raises(StorageError, match="holds no folder umls"):
        datasets.load_umls()
    folder = tmp_path / "umls"
    folder.mkdir()
    with pytest.raises(StorageError, match=r"has no .*train\.parquet"):
        datasets.load_umls()
    pq.write_table(pa.table({"head": ["a"], "tail": ["b"]}), folder / "train.parquet")
    with pytest.raises(FormatError, match="lacks the columns 'relation'"):
        datasets.load_umls()
    (folder / "train.parquet").write_bytes(b"not a table")
    with pytest.raises(FormatError, match=r"train\.parquet is not a Parquet file"):
        datasets.load_umls()


def test_tables_that_do_not_belong_together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RELSCAPE_DATA", str(tmp_path))
    folder = tmp_path / "reviews"
    folder.mkdir()
    docs = {name: ["d1"] for name in ("doc", "domain", "label", "rating", "asin")}
    pq.write_table(pa.table(docs), folder / "docs.parquet")
    pq.write_table(
        pa.table({"doc": ["d1", "d2"], "word": ["a", "b"], "n": [1, 2]}), folder / "counts.parquet"
    )
    with pytest.raises(DataError, match="1 rows name a doc that is not listed, the first is 'd2' in row 1"):
        datasets.load_reviews()


def test_front_door() -> None:
    assert datasets.__all__ == sorted(datasets.__all__)
    for name in datasets.__all__:
        assert hasattr(datasets, name)
    loaders = {name.removeprefix("load_") for name in datasets.__all__ if name.startswith("load_")}
    listed = {info.name for info in datasets.available()}
    assert listed == loaders - {"stdlib_triples"}
    assert all(info.title and info.size and info.reference for info in datasets.available())


def test_present_follows_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RELSCAPE_DATA", str(tmp_path))
    present = {info.name for info in datasets.available() if info.present}
    assert present == {"stdlib", "stdlib_facts", "smoking", "hair_eye", "caithness"}
    with pytest.raises(UnknownNameError, match="Did you mean 'cora'"):
        datasets.dataset_info("corra")
