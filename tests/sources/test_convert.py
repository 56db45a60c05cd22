from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from relscape import datasets
from relscape.errors import (
    DataError,
    FormatError,
    ParameterError,
    RelscapeWarning,
    StorageError,
    UnknownNameError,
)
from relscape.sources.converters.messages import message_text


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="latin-1")
    return folder


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the loaders look, and the converters write."""
    place = tmp_path / "made"
    monkeypatch.setenv("RELSCAPE_DATA", str(place))
    return place


def convert(name: str, source: Path | None, output: Path) -> dict[str, int]:
    with pytest.warns(RelscapeWarning, match=f"{name} differs from the published version"):
        return datasets.convert(name, source, output)


def test_cora(tmp_path: Path, made: Path) -> None:
    source = write(
        tmp_path / "orig",
        {
            "cora/cora.content": "p2\t0\t1\t1\tTheory\np1\t1\t0\t1\tNets\np3\t0\t0\t0\tTheory\n",
            "cora/cora.cites": "p1\tp2\np2\tp2\np3\tp9\n",
        },
    )
    assert convert("cora", source, made) == {"docs": 3, "words": 4, "links": 3}
    data = datasets.load_cora()
    assert data.entities["doc"].ids.tolist() == ["p1", "p2", "p3"]
    assert data.entities["doc"].fields["class"].tolist() == ["Nets", "Theory", "Theory"]
    assert data.entities["word"].ids.tolist() == ["w0000", "w0001", "w0002"]
    assert data.matrix("words").toarray().tolist() == [[1, 0, 1], [0, 1, 1], [0, 0, 0]]
    # p1 is cited by p2; the self link and the link to p9, which is not in the set, are dropped
    assert data.matrix("links").toarray().tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]


def test_webkb_joins_four_universities(tmp_path: Path, made: Path) -> None:
    files = {}
    for university in ("cornell", "texas", "washington", "wisconsin"):
        files[f"{university}.content"] = (
            f"http://{university}/a\t1\t0\tstaff\nhttp://{university}/b\t0\t1\tcourse\n"
        )
        files[f"{university}.cites"] = f"http://{university}/a http://{university}/b\n"
    assert convert("webkb", write(tmp_path / "orig", files), made) == {"docs": 8, "words": 8, "links": 4}
    data = datasets.load_webkb()
    assert data.entities["doc"].fields["university"].tolist()[:3] == ["cornell", "cornell", "texas"]
    assert data.matrix("links").nnz == 4


@pytest.mark.parametrize(
    ("content", "cites", "message"),
    [
        ("p1\t1\t0\tA\np2\t1\tA\n", "", r"citeseer\.content, line 2: 3 fields, expected 4"),
        ("p1\t1\t2\tA\n", "", r"citeseer\.content, line 1: a word's entry is '2', expected 0 or 1"),
        ("p1\t1\t0\tA\n\np1\t1\t0\tA\n", "", r"line 3: document 'p1' is given a second time"),
        ("p1\t1\t0\tA\n", "p1\tp1\np1\n", r"citeseer\.cites, line 2: 1 fields"),
    ],
)
def test_malformed_network_lines_are_named(
    content: str, cites: str, message: str, tmp_path: Path, made: Path
) -> None:
    source = write(tmp_path / "orig", {"citeseer.content": content, "citeseer.cites": cites})
    with pytest.raises(FormatError, match=message):
        datasets.convert("citeseer", source, made)
    assert not made.exists()


def test_knowledge_graphs(tmp_path: Path, made: Path) -> None:
    source = write(
        tmp_path / "orig",
        {
            "nations-or-umls/train.txt": "uk\tally\tusa\nusa\tally\tuk\nuk\ttrade\tcuba\n",
            "nations-or-umls/valid.txt": "usa\ttrade\tuk\n",
            "nations-or-umls/test.txt": "cuba\ttrade\tussr\n",
        },
    )
    assert convert("nations", source, made) == {"train": 3, "valid": 1, "test": 1}
    with pytest.warns(RelscapeWarning, match=r"test: 1 entity does not occur .* \('ussr'\)"):
        graph = datasets.load_nations()
    assert graph.entities.tolist() == ["cuba", "uk", "usa", "ussr"]
    assert graph.named(graph.train).tolist() == [
        ["uk", "ally", "usa"],
        ["usa", "ally", "uk"],
        ["uk", "trade", "cuba"],
    ]
    assert graph.named(graph.test).tolist() == [["cuba", "trade", "ussr"]]


@pytest.mark.parametrize(
    ("name", "prefix", "labels"),
    [("fb15k", "freebase_mtr100_mte100-", ["1", "2"]), ("wn18", "wordnet-mlj12-", ["__dog_NN_1", "2"])],
)
def test_published_file_names_and_labels(
    name: str, prefix: str, labels: list[str], tmp_path: Path, made: Path
) -> None:
    facts = {"train": "1\t_is\t2\n", "valid": "2\t_is\t1\n", "test": "1\t_is\t1\n"}
    files = {f"{prefix}{split}.txt": fact for split, fact in facts.items()}
    files["wordnet-mlj12-definitions.txt"] = "1\t__dog_NN_1\tbarks\n"
    assert convert(name, write(tmp_path / "orig", files), made)["entities"] == 2
    assert getattr(datasets, f"load_{name}")().shown.tolist() == labels


def test_wn18_without_definitions(tmp_path: Path, made: Path) -> None:
    facts = {"train": "1\t_is\t2\n", "valid": "2\t_is\t1\n", "test": "1\t_is\t1\n"}
    files = {f"wordnet-mlj12-{split}.txt": fact for split, fact in facts.items()}
    source = write(tmp_path / "orig", files)
    convert("wn18", source, made)
    assert datasets.load_wn18().shown.tolist() == ["1", "2"]
    (source / "wordnet-mlj12-definitions.txt").write_text("1\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"definitions\.txt, line 1: expected an id and a label"):
        datasets.convert("wn18", source, made)


def test_malformed_facts_are_named(tmp_path: Path, made: Path) -> None:
    files = {"train.txt": "a\tb\tc\na b c\n", "valid.txt": "", "test.txt": ""}
    with pytest.raises(FormatError, match=r"train\.txt, line 2: expected head, relation and tail"):
        datasets.convert("umls", write(tmp_path / "orig", files), made)
    (tmp_path / "orig" / "train.txt").write_bytes(b"\xff\xfe\n")
    with pytest.raises(FormatError, match="not text in UTF-8"):
        datasets.convert("umls", tmp_path / "orig", made)


MESSAGE = "From: someone@example\nSubject: Rockets\n  again\nLines: 3\n\nShared Moon's {}\n"


def newsgroups(folder: Path) -> Path:
    files = {f"20_newsgroups/sci.space/{i}": MESSAGE.format("orbit") for i in range(3)}
    files |= {f"20news-bydate-train/sci.space/{i}": MESSAGE.format("orbit orbit") for i in (0, 1)}
    files |= {f"20news-bydate-test/rec.autos/{i}": MESSAGE.format("car") for i in (7, 8)}
    return write(folder, files)


def test_newsgroups_folders(tmp_path: Path, made: Path) -> None:
    # shared, moon, s, rockets and again are in all five messages; orbit in three, car in two: dropped
    assert convert("newsgroups20", newsgroups(tmp_path / "orig"), made) == {"docs": 5, "counts": 25}
    data = datasets.load_newsgroups20()
    docs = data.entities["doc"]
    assert docs.ids.tolist() == ["rec.autos/7", "rec.autos/8", "sci.space/0", "sci.space/1", "sci.space/2"]
    assert docs.fields["bydate_split"].tolist() == ["test", "test", "train", "train", "-"]
    assert docs.fields["newsgroup"].tolist() == ["rec.autos"] * 2 + ["sci.space"] * 3
    assert data.entities["word"].ids.tolist() == ["again", "moon", "rockets", "s", "shared"]


def test_headers_are_dropped_but_the_subject() -> None:
    assert message_text("From: me\r\nSubject: A b\r\n\r\nBody: c\r\n").split() == ["A", "b", "Body:", "c"]
    assert message_text("From: me\n\nSubject: in the body\n").split() == ["Subject:", "in", "the", "body"]


def test_newsgroups_through_scikit_learn(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [f"cache/20news-bydate-train/sci.space/{i}" for i in range(5)]

    def fetch(subset: str, shuffle: bool) -> SimpleNamespace:
        assert subset == "all"
        return SimpleNamespace(filenames=paths, data=[MESSAGE.format("orbit")] * 5)

    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", fetch)
    assert convert("newsgroups20", None, made) == {"docs": 5, "counts": 30}
    assert set(datasets.load_newsgroups20().entities["doc"].fields["bydate_split"]) == {"train"}


def story(
    number: int, topics: str, split: str = "TRAIN", used: str = "YES", places: str = "<D>usa</D>"
) -> str:
    return (
        f'<REUTERS TOPICS="{used}" LEWISSPLIT="{split}" CGISPLIT="TRAINING-SET" OLDID="1" NEWID="{number}">\n'
        f"<DATE>26-FEB-1987 15:01</DATE>\n<TOPICS>{topics}</TOPICS>\n<PLACES>{places}</PLACES>\n"
        "<TEXT>&#2;\n<TITLE>COCOA Review</TITLE>\n<DATELINE>    SALVADOR, Feb 26 - </DATELINE>"
        "<BODY>Rain &lt;in> Bahia.\nReuter\n&#3;</BODY></TEXT>\n</REUTERS>\n"
    )


def test_reuters(tmp_path: Path, made: Path) -> None:
    one = "<D>cocoa</D>"
    text = '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n' + "".join(
        [
            story(1, one, places="<D>brazil</D><D>usa</D>"),
            story(2, "<D>a</D><D>b</D>"),
            story(3, ""),
            story(4, one, split="TEST", places=""),
            story(5, one, split="NOT-USED"),
        ]
    )
    second = story(6, one, used="NO") + story(7, "<D>earn</D>")
    source = write(tmp_path / "orig", {"reut2-000.sgm": text, "reut2-001.sgm": second})
    assert convert("reuters21578", source, made) == {"docs": 5, "counts": 30}
    data = datasets.load_reuters21578()
    docs = data.entities["doc"]
    assert docs.ids.tolist() == ["1", "4", "5", "6", "7"]
    assert docs.fields["topic"].tolist() == ["cocoa"] * 4 + ["earn"]
    assert docs.fields["modapte"].tolist() == ["train", "test", "-", "-", "train"]
    assert docs.fields["places"].tolist() == ["brazil,usa", "", "usa", "usa", "usa"]
    assert docs.fields["date"][0] == "26-FEB-1987 15:01"
    assert data.entities["word"].ids.tolist() == ["bahia", "cocoa", "in", "rain", "reuter", "review"]


def test_broken_newswire_is_named(tmp_path: Path, made: Path) -> None:
    source = write(tmp_path / "orig", {"reut2-000.sgm": story(1, "") + '<REUTERS NEWID="2">'})
    with pytest.raises(FormatError, match=r"reut2-000\.sgm: a story has no end"):
        datasets.convert("reuters21578", source, made)
    write(source, {"reut2-000.sgm": story(1, "") + story(2, "").replace("NEWID", "ID")})
    with pytest.raises(FormatError, match=r"reut2-000\.sgm, line 11: a story without a NEWID"):
        datasets.convert("reuters21578", source, made)
    write(source, {"reut2-000.sgm": "nothing"})
    with pytest.raises(FormatError, match="no story"):
        datasets.convert("reuters21578", source, made)


def test_missing_originals_are_named(tmp_path: Path, made: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(StorageError, match=r"no cora\.content in .*it is empty"):
        datasets.convert("cora", empty, made)
    with pytest.raises(StorageError, match="is not a folder"):
        datasets.convert("cora", tmp_path / "gone", made)
    with pytest.raises(StorageError, match="no messages in"):
        datasets.convert("newsgroups20", empty, made)
    with pytest.raises(StorageError, match="is not a folder"):
        datasets.convert("newsgroups20", tmp_path / "gone", made)
    with pytest.raises(StorageError, match=r"no \.sgm files"):
        datasets.convert("reuters21578", empty, made)
    with pytest.raises(DataError, match="no word occurs in 5 or more"):
        datasets.convert("newsgroups20", write(empty, {"sci.space/1": "Subject: x\n\nshort"}), made)


def test_names_that_cannot_be_converted(tmp_path: Path, made: Path) -> None:
    with pytest.raises(
        ParameterError, match="'nips' cannot be made from original files; these can: citeseer"
    ):
        datasets.convert("nips", tmp_path, made)
    with pytest.raises(UnknownNameError, match="Did you mean 'cora'"):
        datasets.convert("coraa", tmp_path, made)
    with pytest.raises(ParameterError, match=r"needs the folder with cora\.content"):
        datasets.convert("cora", None, made)


def test_an_earlier_conversion_is_replaced_but_nothing_else(tmp_path: Path, made: Path) -> None:
    source = newsgroups(tmp_path / "orig")
    convert("newsgroups20", source, made)
    (made / "newsgroups20" / "notes.txt").write_text("mine", encoding="utf-8")
    write(source, {"20_newsgroups/sci.space/9": MESSAGE.format("orbit")})
    assert convert("newsgroups20", source, made)["docs"] == 6
    assert (made / "newsgroups20" / "notes.txt").read_text(encoding="utf-8") == "mine"
    (made / "cora").mkdir()
    (made / "cora" / "photo.jpg").write_bytes(b"")
    cora = write(tmp_path / "lbc", {"cora.content": "p1\t1\tA\n", "cora.cites": ""})
    with pytest.raises(StorageError, match="holds something else"):
        datasets.convert("cora", cora, made)


def test_the_published_version_comes_back_whole_and_without_a_warning(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = {name: getattr(datasets, f"load_{name}")().fingerprint() for name in ("cora", "nations")}
    for split in ("train", "valid", "test"):
        rows = pq.read_table(data_dir / "nations" / f"{split}.parquet").to_pylist()
        write(tmp_path / "orig", {f"{split}.txt": "".join("\t".join(row.values()) + "\n" for row in rows)})
    flags = {
        row["doc"]: ["0"] * 1433 for row in pq.read_table(data_dir / "cora" / "docs.parquet").to_pylist()
    }
    for row in pq.read_table(data_dir / "cora" / "words.parquet").to_pylist():
        flags[row["doc"]][int(row["word"][1:])] = "1"
    docs = pq.read_table(data_dir / "cora" / "docs.parquet").to_pylist()
    links = pq.read_table(data_dir / "cora" / "links.parquet").to_pylist()
    content = "".join("\t".join([row["doc"], *flags[row["doc"]], row["class"]]) + "\n" for row in docs)
    cites = "".join(f"{row['cited']}\t{row['citing']}\n" for row in links)
    write(tmp_path / "orig", {"cora.content": content, "cora.cites": cites})
    monkeypatch.setenv("RELSCAPE_DATA", str(tmp_path / "made"))
    for name, fingerprint in stored.items():
        datasets.convert(name, tmp_path / "orig", tmp_path / "made")
        assert getattr(datasets, f"load_{name}")().fingerprint() == fingerprint
