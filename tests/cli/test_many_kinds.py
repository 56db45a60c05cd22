"""Maps of more than two kinds from the command line, by small real files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import relscape as rs

FIRM = ("-p", "ridge=1e-3", "--seed", "0")
TOPICS = {"cat": 0, "dog": 0, "fish": 0, "wheel": 1, "brake": 1, "motor": 1}


def lines(rng, names, header, weight=True):
    """Pairs of things with words: much within their topic, little outside."""
    text = [header]
    for i, name in enumerate(names):
        for word, topic in TOPICS.items():
            n = rng.poisson(5 if topic == i % 2 else 0.4) + 1
            text.append(f"{name},{word},{n}" if weight else f"{name},{word}")
    return "\n".join(text) + "\n"


@pytest.fixture
def files(tmp_path, rng):
    """Three relations of documents, words and authors: a Parquet file, two CSV files, one without weights."""
    docs, authors = [f"d{i}" for i in range(8)], [f"a{i}" for i in range(4)]
    rows = [line.split(",") for line in lines(rng, docs, "doc,word,n").splitlines()[1:]]
    table = {"doc": [r[0] for r in rows], "word": [r[1] for r in rows], "n": [int(r[2]) for r in rows]}
    pq.write_table(pa.table(table), tmp_path / "doc_word.parquet")
    (tmp_path / "author_word.csv").write_text(lines(rng, authors, "author,word,uses"))
    written = "\n".join(f"{doc},a{(i % 2) + 2 * (i // 4)}" for i, doc in enumerate(docs))
    (tmp_path / "doc_author.csv").write_text("doc,author\n" + written + "\n")
    return [tmp_path / name for name in ("doc_word.parquet", "author_word.csv", "doc_author.csv")]


def refused(done, *parts):
    assert done.code == 1, done.out
    assert done.err.startswith("error: ")
    for part in parts:
        assert part in done.err, done.err


def test_several_files_make_one_map(relscape, files):
    done = relscape("coembed", *files, *FIRM, "-o", "maps/all")
    assert done.code == 0, done.err
    assert "MultiCODE: 8 × doc, 6 × word and 4 × author in 2 dimensions: maps/all" in done.out
    assert "log-likelihood" in done.out
    assert "Made from 80 pairs" in done.out
    assert "next: relscape neighbors maps/all 'author:" in done.out
    joint = rs.Map.load("maps/all")
    assert joint.model == "MultiCODE"
    assert {f"log_likelihood {name}" for name in ("doc-word", "author-word", "doc-author")} <= set(
        joint.scores
    )
    for doc in range(8):
        assert {TOPICS[n.id] for n in joint.neighbors(f"doc:d{doc}", "word", 3)} == {doc % 2}
    assert (joint.group("author").fields["degree"] > 0).all()


def test_json_plot_neighbors_and_info(relscape, files):
    done = relscape("coembed", *files, *FIRM, "-o", "maps/all", "--json", "--keep-relations")
    assert done.json["sizes"] == {"doc": 8, "word": 6, "author": 4}
    assert done.json["pairs"] == 80
    assert done.json["model"] == "MultiCODE"
    assert relscape("plot", "maps/all", "-o", "all.png").code == 0
    assert Path("all.png").stat().st_size > 1000
    near = relscape("neighbors", "maps/all", "author:a0", "--json").json["author:a0"]
    assert set(near) == {"doc", "word", "author"}
    told = relscape("info", "maps/all", "--json").json
    assert set(told["relations"]) == {"doc-word", "author-word", "doc-author"}
    assert told["provenance"]["source"]["files"] == ["doc_word.parquet", "author_word.csv", "doc_author.csv"]


def test_the_same_kinds_are_one_relation(relscape, files):
    """Also when a file has its columns in the other order."""
    Path("more.csv").write_text("word,doc,n\ncat,d8,3\ndog,d8,2\nmotor,d9,4\n")
    done = relscape("coembed", *files, "more.csv", *FIRM, "-o", "maps/all", "--json")
    assert done.json["sizes"] == {"doc": 10, "word": 6, "author": 4}
    assert len([name for name in done.json["scores"] if " " in name]) == 3


def test_models_and_weights_by_text(relscape, files):
    settings = (
        "-p",
        "models=doc-word=MM,author-word=CU",
        "-p",
        "weights=doc-word=2,author-word=1,doc-author=0.5",
    )
    done = relscape("coembed", *files, *FIRM, *settings, "-o", "maps/all", "--json")
    assert done.code == 0, done.err
    model = rs.models.registry.revive(rs.Map.load("maps/all").model_state)
    assert model.models_ == {("doc", "word"): "MM", ("author", "word"): "CU", ("doc", "author"): "CM"}
    assert model.weights_ == {("doc", "word"): 2.0, ("author", "word"): 1.0, ("doc", "author"): 0.5}
    for_all = relscape("coembed", *files, *FIRM, "--model", "MM", "-o", "maps/mm", "--json")
    assert for_all.json["parameters"]["models"] == "MM"


def test_within_one_kind(relscape, files):
    Path("links.csv").write_text("author,author_2,times\na0,a2,3\na1,a3,2\n")
    done = relscape("coembed", *files, "links.csv", *FIRM, "-o", "maps/all", "--json")
    assert done.code == 0, done.err
    assert "log_likelihood author-author" in done.json["scores"]


def test_one_file_and_columns_in_any_place(relscape, pairs):
    done = relscape("coembed", pairs, "-m", "multicode", *FIRM, "-o", "maps/one", "--json")
    assert done.json["sizes"] == {"doc": 4, "word": 4}
    named = relscape(
        "coembed", pairs, "--rows", "word", "--columns", "doc", "-m", "multicode", *FIRM, "--json"
    )  # fmt: skip
    assert named.json["sizes"] == {"word": 4, "doc": 4}


def test_model_is_short_for_the_parameter(relscape, pairs):
    columns = ("--rows", "doc", "--columns", "word", "--weight", "n")
    done = relscape("coembed", pairs, *columns, "-m", "code", "--model", "MM", *FIRM, "--json")
    assert done.json["parameters"]["model"] == "MM"
    refused(relscape("coembed", pairs, *columns, "--model", "MM"), "--model MM", "--method ca")
    refused(
        relscape("coembed", pairs, *columns, "-m", "code", "--model", "MM", "-p", "model=CM"), "say the same"
    )
    refused(relscape("coembed", pairs, *columns, "-m", "code", "--model", "XX"), "'XX'")


def test_min_degree_counts_all_relations(relscape, files):
    Path("rare.csv").write_text("author,word,uses\na9,newt,1\n")
    done = relscape("coembed", *files, "rare.csv", *FIRM, "--min-degree", 2, "-o", "maps/all", "--json")
    assert done.json["sizes"] == {"doc": 8, "word": 6, "author": 4}


def test_new_things_on_a_map_of_many_kinds(relscape, files):
    assert relscape("coembed", *files, *FIRM, "-o", "maps/all").code == 0
    Path("new.csv").write_text("author,word,uses\nnew,cat,9\nnew,dog,8\nnew,fish,9\n")
    done = relscape("place", "maps/all", "new.csv", "-o", "maps/grown", "--json")
    assert done.code == 0, done.err
    assert done.json["placed"] == 1
    grown = rs.Map.load("maps/grown")
    assert grown.group("author").ids.tolist() == ["a0", "a1", "a2", "a3", "new"]
    assert {n.id for n in grown.neighbors("author:new", "word", 3)} == {"cat", "dog", "fish"}
    word = relscape("place", "maps/all", "new.csv", "--kind", "word", "--json")
    refused(word, "none of the 1 ids of kind 'author'")
    Path("odd.csv").write_text("reader,word,uses\nx,cat,2\n")
    refused(relscape("place", "maps/all", "odd.csv"), "'reader'", "'author'")
    Path("two.csv").write_text("doc,author\nd9,a0\n")
    Path("three.csv").write_text("doc,word,n\nd9,cat,3\nd9,fish,5\n")
    both = relscape("place", "maps/all", "two.csv", "three.csv", "--json")
    assert both.json["placed"] == 1


def test_two_kind_methods_refuse_many_kinds(relscape, files):
    done = relscape("coembed", *files, "--method", "ca")
    refused(done, "more than two kinds", "--method ca maps two", "--method multicode")
    assert not Path("maps").exists()


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--row-info", "author_word.csv"), ("--row-info", "several")),
        (("--weight", "m"), ("column 'm'",)),
        (("-p", "models=doc-wrod=CM"), ("'doc-wrod'", "Did you mean 'doc-word'?")),
        (("-p", "weights=doc-word=1"), ("'author-word'", "has none")),
        (("--model", "CC"), ("'CC'",)),
        (("--relation", "x"), ("--relation",)),
    ],
)
def test_mistakes(relscape, files, arguments, parts):
    refused(relscape("coembed", *files, *arguments), *parts)


def test_files_that_are_no_pairs(relscape, files):
    Path("wide.csv").write_text("doc,cat,dog,fish\nd1,1,2,3\nd2,2,1,1\n")
    refused(relscape("coembed", *files, "wide.csv", "-m", "multicode"), "wide.csv has 4 columns")
    Path("list.csv").write_text("doc\nd1\n")
    refused(relscape("coembed", *files, "list.csv", "-m", "multicode"), "list.csv has one column")
    Path("other.csv").write_text("doc,word,count\nd1,cat,2\n")
    refused(relscape("coembed", *files, "other.csv"), "other.csv", "'count'", "call them alike")


def test_wide_tables_of_other_columns_are_still_told_apart(relscape):
    Path("one.csv").write_text("name,x,y,z\na,1,2,3\n")
    Path("two.csv").write_text("name,x,y,w\nb,1,2,3\n")
    refused(relscape("coembed", "one.csv", "two.csv"), "do not have the same columns")


def test_relations_of_a_data_set(relscape):
    """Of the standard library: all relations between different kinds, or those named."""
    data = rs.datasets.load_stdlib()
    joining = {name for name, r in data.relations.items() if r.rows != r.columns}
    done = relscape("coembed", "--dataset", "stdlib", "-m", "multicode", "-p", "max_iterations=3", "--json")
    assert done.code == 0, done.err
    assert len([name for name in done.json["scores"] if " " in name]) == len(joining)
    both = ",".join(data.relations)
    refused(relscape("coembed", "--dataset", "stdlib", "--relation", both + ",x", "-m", "multicode"), "'x'")
    refused(relscape("coembed", "--dataset", "stdlib", "--relation", "words,imports"), "multicode")


def test_nips(relscape, data_dir):
    done = relscape(
        "coembed", "--dataset", "nips", "-m", "multicode", "--relation", "counts, authors", "--min-degree", 8,
        "-p", "max_iterations=3", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert set(done.json["sizes"]) == {"doc", "word", "author"}
    assert np.isfinite(done.json["scores"]["log_likelihood"])
