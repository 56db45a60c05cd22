from __future__ import annotations

import gzip
import random
from pathlib import Path

import pandas as pd
import pytest

from relscape.data.triples import KnowledgeGraph
from relscape.errors import DataError, FormatError, RelscapeWarning, StorageError
from relscape.sources.triples import read_facts

TRAIN = "paris\tin\tfrance\nlyon\tin\tfrance\nfrance\tborders\tspain\nmadrid\tin\tspain\n"
FACTS = [tuple(line.split("\t")) for line in TRAIN.splitlines()]


def write(folder: Path, **files: str | bytes) -> Path:
    """Write files into a folder; ``train_txt`` is train.txt."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        raw = content.encode() if isinstance(content, str) else content
        (folder / name.replace("__", "-").replace("_", ".")).write_bytes(raw)
    return folder


def names(graph: KnowledgeGraph, split: str = "train") -> list[tuple[str, ...]]:
    return [*map(tuple, graph.named(graph.triples(split)))]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("train_txt", TRAIN),
        ("train_tsv", TRAIN.replace("\n", "\r\n")),
        ("train_tsv", TRAIN.rstrip("\n")),
        ("train_txt", TRAIN.replace("\t", " ").replace("\n", "\n\n")),
        ("train_csv", TRAIN.replace("\t", ",")),
        ("train_csv", "head;relation;tail\n" + TRAIN.replace("\t", ";")),
        ("train_tsv", "Subject\tPredicate\tObject\n" + TRAIN),
        ("train_csv", "tail,id,head,relation\n" + "".join(f'"{t}",7,{h},{r}\n' for h, r, t in FACTS)),
        ("train_txt", b"\xef\xbb\xbf" + TRAIN.encode()),
        ("train_txt", TRAIN.encode("utf-16")),
        ("train_txt_gz", gzip.compress(TRAIN.encode(), mtime=0)),
        ("my__graph__train_txt", TRAIN),
    ],
)
def test_text_of_every_kind(name: str, content: str | bytes, tmp_path: Path) -> None:
    graph = KnowledgeGraph.from_directory(write(tmp_path / "kg", **{name: content}))
    assert names(graph) == FACTS
    assert graph.entity_labels is None


def test_parquet_splits_and_labels(tmp_path: Path) -> None:
    folder = write(tmp_path / "kg", dev_tsv="paris\tin\tspain\n", test_txt="lyon\tin\tspain\n")
    frame = pd.DataFrame(FACTS, columns=["head", "relation", "tail"])
    frame[["tail", "relation", "head"]].astype("category").to_parquet(folder / "train.parquet")
    write(folder, labels_csv='entity,label\nparis,"Paris, Ville Lumière"\nlyon,\n')
    graph = KnowledgeGraph.from_directory(folder)
    assert names(graph) == FACTS
    assert names(graph, "valid") == [("paris", "in", "spain")]
    assert names(graph, "test") == [("lyon", "in", "spain")]
    assert graph.shown[graph.entity("paris")] == "Paris, Ville Lumière"
    assert graph.shown[graph.entity("lyon")] == "lyon"
    assert KnowledgeGraph.from_directory(folder, labels=False).entity_labels is None


def test_labels_from_parquet_and_lists_without_labels(tmp_path: Path) -> None:
    folder = write(tmp_path / "kg", train_txt=TRAIN, entities_txt="paris\nlyon\n")
    assert KnowledgeGraph.from_directory(folder).entity_labels is None
    (folder / "entities.txt").unlink()
    pd.DataFrame({"entity": ["lyon", "paris"], "label": [None, "Paris"]}).to_parquet(
        folder / "entities.parquet"
    )
    assert set(KnowledgeGraph.from_directory(folder).shown) == {"Paris", "lyon", "france", "spain", "madrid"}


def test_weights_of_a_column(tmp_path: Path) -> None:
    folder = write(tmp_path / "kg", train_csv="head,relation,tail,weight\na,r,b,0.5\nb,r,a,2\n")
    weights = KnowledgeGraph.from_directory(folder).weights
    assert weights is not None
    assert weights.tolist() == [0.5, 2.0]
    write(folder, train_csv="head,relation,tail,weight\na,r,b,0.5\nb,r,a,much\n")
    with pytest.raises(FormatError, match=r"train\.csv, line 3: the weight is 'much', which is no number"):
        KnowledgeGraph.from_directory(folder)
    write(folder, train_csv="head,relation,tail,weight\na,r,b,-1\n")
    with pytest.raises(DataError, match=r"train\.csv, line 2: the weight is -1\.0"):
        KnowledgeGraph.from_directory(folder)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("train_txt", "a\tr\tb\n\na\tr\n", r"train\.txt, line 3: 2 fields; expected head, relation and tail"),
        ("train_tsv", "a\tr\tb\tc\n", r"train\.tsv, line 1: 4 fields"),
        ("train_tsv", "a r b\n", r"train\.tsv, line 1: 1 field; .* with a tab"),
        ("train_txt", "a r b\nbig city r b\n", r"train\.txt, line 2: 4 fields; .* with blanks between"),
        ("train_csv", "a,r,b\na,r\n", r"train\.csv, line 2: 2 fields; .* with a comma"),
        (
            "train_csv",
            "head,relation,tail,id\na,r,b\n",
            r"line 2: 3 fields; expected 4 fields, as in the line",
        ),
        ("train_csv", 'a,r,b\n"x"y,r,b\n', r"line 2: .*A quote inside a quoted field is written twice"),
        ("train_csv", 'a,r,b\n"x,r,b\n', r"train\.csv, line 2: "),
        ("train_tsv", b"caf\xc3\xa9\tr\tb\ncaf\xe9\tr\tb\n", r"train\.tsv is UTF-8 up to about byte"),
        ("train_tsv", b"a\tr\tb\n\0\0\0\n", r"train\.tsv is not a text file"),
    ],
)
def test_lines_that_are_no_triple_are_named(
    name: str, content: str | bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(FormatError, match=message):
        KnowledgeGraph.from_directory(write(tmp_path / "kg", **{name: content}))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"train\.txt holds no triples"),
        ("head\trelation\ttail\n", r"train\.txt holds no triples"),
        ("a\tr\tb\n\n\tr\tb\n", r"train\.txt, line 3: the head is empty; 1 name is missing"),
        ("a\tr\tb\na\t \tb\n", r"train\.txt, line 2: the relation is empty"),
    ],
)
def test_empty_files_and_names_are_refused(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        KnowledgeGraph.from_directory(write(tmp_path / "kg", train_txt=content))


def test_duplicates_and_unseen_names_say_where(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "kg",
        train_txt="a\tr\tb\n\nb\tr\ta\na\tr\tb\n",
        test_txt="a\tr\tc\n",
    )
    with pytest.warns(RelscapeWarning) as told:
        graph = KnowledgeGraph.from_directory(folder)
    messages = [str(warning.message) for warning in told]
    assert "train.txt, line 4 (as at" in messages[0]
    assert "train.txt, line 1)" in messages[0]
    assert "test.txt: 1 entity does not occur in the training triples ('c')" in messages[1]
    assert len(graph.train) == 2
    assert graph.n_entities == 3


def test_an_empty_validation_file_is_warned_of(tmp_path: Path) -> None:
    folder = write(tmp_path / "kg", train_txt=TRAIN, valid_txt="")
    with pytest.warns(RelscapeWarning, match=r"valid\.txt holds no triples; the graph has no valid split"):
        assert KnowledgeGraph.from_directory(folder).valid.shape == (0, 3)


def test_a_guessed_encoding_is_warned_of_and_can_be_given(tmp_path: Path) -> None:
    folder = write(tmp_path / "kg", train_txt="café\tin\tparis\n".encode("latin-1"))
    with pytest.warns(RelscapeWarning, match=r"train\.txt is not UTF-8 and was read as cp1252"):
        assert "café" in KnowledgeGraph.from_directory(folder).entities
    with pytest.warns(RelscapeWarning, match="was read as cp1252"):
        read_facts(folder / "train.txt")
    assert "cafй" in KnowledgeGraph.from_directory(folder, encoding="cp1251").entities


def test_which_files_are_meant(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="kg does not exist; give the folder"):
        KnowledgeGraph.from_directory(tmp_path / "kg")
    folder = write(tmp_path / "kg")
    with pytest.raises(StorageError, match=r"has no file train\.txt, .*it holds nothing"):
        KnowledgeGraph.from_directory(folder)
    write(folder, facts_ttl="")
    with pytest.raises(StorageError, match=r"has no file train but RDF \('facts\.ttl'\); .*from_rdf"):
        KnowledgeGraph.from_directory(folder)
    write(folder, train_txt=TRAIN, old__train_txt="x\ty\tz\n")
    assert names(KnowledgeGraph.from_directory(folder)) == FACTS
    write(folder, train_tsv=TRAIN)
    with pytest.raises(DataError, match=r"several files for train: 'train\.tsv', 'train\.txt'\. Keep one"):
        KnowledgeGraph.from_directory(folder)
    with pytest.raises(StorageError, match="is a file"):
        KnowledgeGraph.from_directory(folder / "train.txt")


def test_labels_of_something_else_are_warned_of(tmp_path: Path) -> None:
    folder = write(tmp_path / "kg", train_txt=TRAIN, labels_txt="Paris\tparis\n")
    with pytest.warns(RelscapeWarning, match=r"labels\.txt has labels for none of the entities.*'Paris'"):
        KnowledgeGraph.from_directory(folder)
    write(folder, labels_txt="paris\tParis\nlyon\n")
    with pytest.raises(
        FormatError, match=r"labels\.txt, line 2: expected the name of an entity and its label"
    ):
        KnowledgeGraph.from_directory(folder)


def test_quotes_in_tab_separated_names_are_letters(tmp_path: Path) -> None:
    folder = write(tmp_path / "kg", train_tsv='12" record\thas\t"title"\n')
    assert names(KnowledgeGraph.from_directory(folder)) == [('12" record', "has", '"title"')]


def test_text_and_tables_give_the_same_graph(tmp_path: Path) -> None:
    draw = random.Random(0)
    rows = sorted(
        {(f"e{draw.randrange(9)}", f"r{draw.randrange(3)}", f"e{draw.randrange(9)}") for _ in range(60)}
    )
    text = write(tmp_path / "text", train_txt="".join("\t".join(row) + "\n" for row in rows))
    table = write(tmp_path / "table")
    pd.DataFrame(rows, columns=["a", "b", "c"]).to_parquet(table / "train.parquet")
    prints = {KnowledgeGraph.from_directory(folder).fingerprint() for folder in (text, table)}
    assert prints == {KnowledgeGraph(rows).fingerprint()}
    facts = read_facts(table / "train.parquet")
    assert facts.place(2).endswith("train.parquet, row 2")


@pytest.mark.parametrize(
    ("lines", "header"),
    [
        (["guest,dish,times", "Ada,ramen,4", "Ben,pizza,4", "Ada,pizza,1"], True),
        (["Ada,dish,times", "Ada,ramen,4", "Ben,pizza,4", "Ada,pizza,1"], False),  # a name that occurs again
        (["guest,dish,times", "Ada,ramen,4", "Ben,pizza,4"], False),  # too few to tell
    ],
)
def test_a_line_of_other_column_names_is_recognised_and_told(tmp_path, lines, header):
    (tmp_path / "orders.csv").write_text("".join(f"{line}\n" for line in lines))
    if not header:
        assert len(read_facts(tmp_path / "orders.csv")) == len(lines)
        return
    with pytest.warns(RelscapeWarning, match="head=guest, relation=dish, tail=times. If another order"):
        facts = read_facts(tmp_path / "orders.csv")
    assert facts.columns[0].to_pylist() == ["Ada", "Ben", "Ada"]
    (tmp_path / "tabs.tsv").write_text("".join(f"{line}\n" for line in lines).replace(",", "\t"))
    assert len(read_facts(tmp_path / "tabs.tsv")) == 4  # where no line of names is usual
