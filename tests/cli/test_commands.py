"""Every command does its job and says what to do next."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import relscape as rs

LONG = ("--rows", "doc", "--columns", "word", "--weight", "n")


def test_pairs_become_a_map(relscape, pairs):
    done = relscape("coembed", pairs, *LONG, "-o", "out/news")
    assert done.code == 0
    assert "4 × doc and 4 × word" in done.out
    assert "next: relscape neighbors out/news" in done.out
    joint = rs.Map.load("out/news")
    expected = rs.CorrespondenceAnalysis().fit(rs.read(pairs, "doc", "word", "n"))
    np.testing.assert_array_equal(joint.coordinates("doc"), expected.row_embedding_)
    source = {"files": ["pairs.csv"], "rows": "doc", "columns": "word", "weight": "n"}
    assert joint.provenance["source"] == source


def test_json_is_one_object(relscape, pairs):
    done = relscape("coembed", pairs, *LONG, "--json")
    assert done.json["sizes"] == {"doc": 4, "word": 4}
    assert done.json["pairs"] == 11
    assert Path(done.json["map"]) == Path("maps/pairs")


@pytest.mark.parametrize("method", ["ca", "bgp", "lsi", "cfrm", "cort"])
def test_every_method(relscape, pairs, method):
    done = relscape("coembed", pairs, *LONG, "--method", method, "-k", 3, "--json")
    assert done.code == 0
    assert rs.Map.load("maps/pairs").coordinates("word").shape == (4, 3)


def test_parameters_of_a_method(relscape, pairs):
    assert relscape("coembed", pairs, *LONG, "-p", "scaling=symmetric").code == 0
    assert rs.Map.load("maps/pairs").parameters["scaling"] == "symmetric"
    assert relscape("coembed", pairs, *LONG, "-m", "lsi", "-p", "beta=0.5").code == 0
    assert rs.Map.load("maps/pairs").parameters["beta"] == 0.5


@pytest.mark.parametrize(("word", "meant"), [("no", False), ("false", False), ("YES", True), ("True", True)])
def test_flags_of_a_method(relscape, pairs, word, meant):
    rows = ("--rows", "doc", "--columns", "word", "--weight", "n", "-m", "sdr", "-k", "1")
    done = relscape("coembed", pairs, *rows, "-p", f"equal_rows={word}", "-o", "m", "--json")
    assert done.code == 0, done.err
    assert done.json["parameters"]["equal_rows"] is meant


@pytest.mark.parametrize(
    "setting", ["equal_rows=abc", "equal_rows=3", "ridge=1" + 400 * "0", "random_state=1"]
)
def test_parameters_that_cannot_be_used(relscape, pairs, setting):
    done = relscape("coembed", pairs, "--rows", "doc", "--columns", "word", "-m", "code", "-p", setting)
    assert done.code == 1
    assert setting.partition("=")[0] in done.err
    assert "bug" not in done.err


def test_one_seed_gives_one_map(relscape, pairs):
    rows = ("coembed", pairs, "--rows", "doc", "--columns", "word", "-m", "code", "-p", "start=random")
    for seed, name in ((1, "a"), (1, "b"), (2, "c")):
        assert relscape(*rows, "-p", "n_restarts=1", "--seed", seed, "-o", name).code == 0
    a, b, c = (rs.Map.load(name).coordinates("doc") for name in "abc")
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)
    assert relscape(*rows, "--seed", -1, "-o", "d").code != 0


def test_wide_tables(relscape, tmp_path):
    Path("wide.csv").write_text("staff;none;light\nSM;4,5;2\nJM;4;3\nSE;25;10\n")
    done = relscape("coembed", "wide.csv", "-k", 1)
    assert done.code == 0
    assert rs.Map.load("maps/wide").group("staff").ids.tolist() == ["SM", "JM", "SE"]


def test_texts(relscape, tmp_path):
    Path("talks.csv").write_text(
        "title,abstract\nOne,the cat and the dog\nTwo,a dog and a fish swim\nThree,the fish and cat swim\n"
    )
    options = (
        "--text",
        "abstract",
        "--id",
        "title",
        "--min-df",
        2,
        "--stop-words",
        "english",
        "--ngrams",
        "1-2",
    )
    assert relscape("coembed", "talks.csv", *options).code == 0
    joint = rs.Map.load("maps/talks")
    assert sorted(joint.group("doc").ids) == ["One", "Three", "Two"]
    assert joint.group("word").ids.tolist() == ["cat", "dog", "fish", "swim"]
    Path("new.csv").write_text("title,abstract\nFour,my dog loves the cat\n")
    placed = relscape("place", "maps/talks", "new.csv", "--json")
    assert placed.code == 0, placed.err
    assert placed.json["placed"] == 1


def test_a_text_map_takes_back_its_own_source(relscape):
    """Whatever the options that read it, its own documents are placed where they are."""
    lines = ["the cat and the dog", "a dog and a fish swim", "the fish and cat swim", "the cat and a cat"]
    Path("talks.csv").write_text("title,abstract\n" + "".join(f"t{i},{t}\n" for i, t in enumerate(lines)))
    options = ("--text", "abstract", "--id", "title", "--stop-words", "english", "--ngrams", "1-2")
    assert relscape("coembed", "talks.csv", *options, "-o", "maps/t").code == 0
    assert relscape("place", "maps/t", "talks.csv", "-o", "maps/again").code == 0
    old, new = rs.Map.load("maps/t").group("doc"), rs.Map.load("maps/again").group("doc")
    assert new.ids.tolist() == old.ids.tolist()
    np.testing.assert_allclose(new.coordinates, old.coordinates, atol=1e-10)
    done = relscape("score", "maps/t", "talks.csv")
    assert done.code == 0, done.err


def test_fields_that_match_nothing_are_noted(relscape, pairs):
    Path("people.csv").write_text("name,age\nAda,3\n")
    done = relscape("coembed", pairs, *LONG, "--row-info", "people.csv")
    assert "people.csv says nothing of 4 of 4 doc things; is its first column the id?" in done.err
    assert relscape("coembed", pairs, *LONG, "--row-info", "people.csv", "--strict").code == 1


def test_a_glob_of_text_files(relscape):
    for name, text in {"a": "cat dog dog", "b": "dog fish fish", "c": "fish cat bird"}.items():
        Path(f"{name}.txt").write_text(text)
    assert (
        relscape("coembed", "a.txt", "b.txt", "c.txt", "--min-df", 1, "-k", 1, "-o", "maps/texts").code == 0
    )
    assert rs.Map.load("maps/texts").group("doc").ids.tolist() == ["a", "b", "c"]
    assert "no file" in relscape("coembed", "letters/", "--min-df", 3).err


def test_a_sheet_of_a_workbook(relscape):
    with pd.ExcelWriter("book.xlsx") as book:
        pd.DataFrame({"report": ["cover"]}).to_excel(book, sheet_name="cover", index=False)
        frame = pd.DataFrame({"kunde": ["K1", "K2", "K3"], "x": [1, 2, 3], "y": [3, 1, None]})
        frame.to_excel(book, sheet_name="sales", index=False)
    done = relscape("coembed", "book.xlsx", "--sheet", "sales", "-k", 1)
    assert done.code == 0, done.err
    assert "1 blank cell" in done.err
    assert rs.Map.load("maps/book").groups[0] == "kunde"


def test_folder_of_texts(relscape, tmp_path):
    folder = Path("letters")
    folder.mkdir()
    for name, text in {"a": "cat dog dog", "b": "dog fish fish", "c": "fish cat bird"}.items():
        (folder / f"{name}.txt").write_text(text)
    assert relscape("coembed", folder, "-k", 1).code == 0
    assert rs.Map.load("maps/letters").group("doc").ids.tolist() == ["a", "b", "c"]


def test_data_sets_by_name(relscape):
    assert relscape("coembed", "--dataset", "smoking").code == 0
    assert rs.Map.load("maps/smoking").scores["inertia_shown"] == pytest.approx(0.9951, abs=1e-4)
    assert "smoking" in relscape("coembed", "--dataset", "smoke").err


def test_fields_and_classes(relscape, pairs, tmp_path):
    Path("docs.csv").write_text("id,class\nd2,b\nd1,a\nd3,a\n")
    assert relscape("coembed", pairs, *LONG, "--row-info", "docs.csv").code == 0
    assert rs.Map.load("maps/pairs").group("doc").fields["class"].tolist() == ["a", "b", "a", None]


def test_minimum_degree(relscape, pairs):
    assert relscape("coembed", pairs, *LONG, "--min-degree", 4, "-k", 1).code == 0
    assert rs.Map.load("maps/pairs").group("word").ids.tolist() == ["cat", "dog", "fish"]
    assert "leaves nothing" in relscape("coembed", pairs, *LONG, "--min-degree", 100).err


def test_blocks_on_maps_of_their_own(relscape):
    Path("blocks.csv").write_text(
        "a,b\n"
        + "".join(f"x{i},y{j}\n" for i in range(4) for j in range(4) if i != j)
        + "x9,y9\nx9,y8\nx8,y9\n"
    )
    done = relscape("coembed", "blocks.csv", "--rows", "a", "--columns", "b", "-m", "bgp", "-k", 1)
    assert "2 blocks that nothing connects" in done.err
    done = relscape(
        "coembed",
        "blocks.csv",
        "--rows",
        "a",
        "--columns",
        "b",
        "-m",
        "bgp",
        "-k",
        1,
        "-p",
        "components=each",
    )
    assert done.code == 0, done.err
    assert len(rs.Map.load("maps/blocks-1").group("a")) == 4
    assert len(rs.Map.load("maps/blocks-2").group("a")) == 2


def test_growing_data_does_not_jump(relscape, pairs, made):
    """An aligned map of almost the same data lies over the earlier one, even if axes flip."""
    before = rs.Map.load(made)
    flipped = before.with_groups(before.group(kind) for kind in before.groups)
    flipped.align(before)
    pairs.write_text(pairs.read_text() + "d5,cat,2\nd5,bird,1\n")
    assert relscape("coembed", pairs, *LONG, "--align-to", made, "-o", "maps/grown").code == 0
    grown = rs.Map.load("maps/grown")
    old = before.coordinates("doc")
    new = grown.coordinates("doc")[:4]
    assert np.linalg.norm(new - old) < 0.5 * np.linalg.norm(old)
    assert grown.provenance["aligned"]["shared_things"] == 8


def test_neighbors(relscape, made):
    done = relscape("neighbors", made, "word:fish", "-k", 2)
    assert done.out.count("nearest to word:fish") == 1
    assert "d3" in done.out
    answer = relscape("neighbors", made, "word:fish", "--among", "doc", "-k", 2, "--json").json
    expected = rs.Map.load(made).neighbors("word:fish", "doc", 2)
    assert [n["id"] for n in answer["word:fish"]["doc"]] == [n.id for n in expected]


def test_info(relscape, made):
    told = relscape("info", made, "--json").json
    assert told["groups"]["doc"]["things"] == 4
    assert told["can_place_new_things"] is True
    assert "CorrespondenceAnalysis in 2 dimensions" in relscape("info", made).out


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_plot(relscape, made, ending):
    done = relscape("plot", made, "-o", f"picture.{ending}", "--color", "degree")
    assert done.code == 0, done.err
    assert Path(f"picture.{ending}").stat().st_size > 5_000


def test_plot_beside_the_map_by_default(relscape, made):
    assert relscape("plot", made, "--layout", "pca").code == 0
    assert Path("maps/pairs.png").exists()
    assert "two axes" in relscape("plot", made, "--axes", "1,7").err
    assert "two numbers" in relscape("plot", made, "--size", "big").err


def test_score(relscape, made, pairs):
    kept = relscape("score", made, "--json").json
    joint = rs.Map.load(made)
    R = rs.read(pairs, "doc", "word", "n").matrix()
    rows, columns = joint.coordinates("doc"), joint.coordinates("word")
    assert kept["gamma_loss"] == rs.gamma_loss(R, rows, columns, ties="positive")
    assert kept["mean_rank"] == rs.mean_rank(R, rows, columns)
    assert relscape("score", made, pairs, "--json").json == kept
    assert relscape("score", made, "--store").code == 0
    assert rs.Map.load(made).scores["mean_rank"] == kept["mean_rank"]


def test_score_needs_the_truth(relscape, pairs):
    relscape("coembed", pairs, *LONG)
    assert "--keep-relations" in relscape("score", "maps/pairs").err
    assert relscape("score", "maps/pairs", pairs).code == 0


def test_place(relscape, made, tmp_path):
    Path("new.csv").write_text("doc,word,n\nd9,cat,3\nd9,dog,1\n")
    done = relscape("place", made, "new.csv", "-o", "maps/grown")
    assert "Placed 1 of 1 × doc" in done.out
    grown = rs.Map.load("maps/grown")
    twin, original = grown.locate("doc:d9")[1], grown.locate("doc:d1")[1]
    np.testing.assert_allclose(grown.coordinates("doc")[twin], grown.coordinates("doc")[original], atol=1e-12)
    assert grown.group("doc").fields["placed"].tolist() == [False] * 4 + [True]
    np.testing.assert_array_equal(grown.coordinates("word"), rs.Map.load(made).coordinates("word"))


def test_place_from_other_column_names(relscape, made):
    Path("new.csv").write_text("paper,term,count\nd9,cat,3\nd9,dog,1\n")
    columns = ("--rows", "paper", "--columns", "term", "--weight", "count")
    assert relscape("place", made, "new.csv", *columns, "--json").json["placed"] == 1


def test_place_a_letter_on_a_map_of_letters(relscape):
    """A map of a folder of texts takes another folder; words it never met are simply not counted."""
    old = ["cat dog dog", "dog fish fish", "fish cat bird"]
    for folder, texts in {"letters": old, "new": ["cat dog whale"]}.items():
        Path(folder).mkdir()
        for number, text in enumerate(texts):
            (Path(folder) / f"{folder}{number}.txt").write_text(text)
    assert relscape("coembed", "letters", "-k", 1).code == 0
    done = relscape("place", "maps/letters", "new", "--strict", "--json")
    assert done.code == 0, done.err
    assert done.json["placed"] == 1


def test_links_within_one_kind(relscape):
    assert relscape("coembed", "--dataset", "stdlib", "--relation", "imports", "-o", "maps/imports").code == 0
    assert rs.Map.load("maps/imports").groups == ("module-row", "module-column")
    options = ("--dataset", "stdlib", "--relation", "imports", "--min-degree", 8, "--keep-relations")
    done = relscape("coembed", *options, "-o", "maps/often")
    assert done.code == 0, done.err
    often = rs.Map.load("maps/often")
    assert len(often.group("module-row")) < len(rs.Map.load("maps/imports").group("module-row"))
    assert relscape("score", "maps/often", "--json").json["gamma_pairs"] > 0


def test_place_columns(relscape, made):
    Path("new.csv").write_text("doc,word,n\nd1,cow,3\nd2,cow,1\nd3,cow,1\nd4,cow,2\n")
    assert relscape("place", made, "new.csv", "--kind", "word", "-o", "maps/grown").code == 0
    grown = rs.Map.load("maps/grown")
    words = grown.coordinates("word")
    np.testing.assert_allclose(
        words[grown.locate("word:cow")[1]], words[grown.locate("word:cat")[1]], atol=1e-12
    )


def test_place_on_an_aligned_map(relscape, pairs, made):
    """New things follow the motion that the map was aligned by."""
    old = rs.Map.load(made)
    turned = old.with_groups(
        [
            type(old.group(k))(k, old.group(k).ids, old.group(k).coordinates[:, ::-1] * [2, -2])
            for k in old.groups
        ]
    )
    old.align(turned).save("maps/turned")
    Path("new.csv").write_text("doc,word,n\nd9,cat,3\nd9,dog,1\n")
    assert relscape("place", "maps/turned", "new.csv", "-o", "maps/grown").code == 0
    grown = rs.Map.load("maps/grown")
    doc = grown.coordinates("doc")
    np.testing.assert_allclose(doc[grown.locate("doc:d9")[1]], doc[grown.locate("doc:d1")[1]], atol=1e-10)


def test_a_knowledge_graph_gives_one_relation_a_predicate(relscape, data_dir):
    done = relscape("coembed", "--dataset", "nations", "--relation", "treaties", "-o", "maps/treaties")
    assert "12 × entity-row and 13 × entity-column" in done.out
    assert "treaties" in relscape("coembed", "--dataset", "nations", "--relation", "treatise").err
    told = relscape("datasets", "info", "fb15k").out
    assert "1,345 relations" in told
    assert "train.parquet     483,142  head, relation, tail" in told
    assert "next: relscape kg inspect" in relscape("datasets", "info", "stdlib_facts").out


def test_datasets(relscape):
    assert "cora" in relscape("datasets", "list").out
    assert relscape("datasets", "list", "--json").json["smoking"]["present"] is True
    assert "Greenacre" in relscape("datasets", "info", "smoking").out
    assert relscape("datasets", "info", "koora").code == 1


def test_doctor(relscape):
    done = relscape("doctor", "--json")
    assert done.code == 0
    assert set(done.json["checks"].values()) == {"works"}


def test_demo(relscape):
    done = relscape("demo", "--json")
    assert done.code == 0, done.err
    near = done.json["neighbors"]
    assert "selectors" in near["asyncio"]["module"] or "concurrent" in near["asyncio"]["module"]
    assert {"ssl", "socketserver"} & set(near["socket"]["module"])
    assert Path("relscape-demo/stdlib.png").stat().st_size > 50_000
    assert rs.Map.load("relscape-demo/map").drawn_by["method"] == "tsne"


def test_version_and_help(relscape):
    assert rs.__version__ in relscape("--version").out
    assert "coembed" in relscape("--help").out


def test_module_runs_as_a_program():
    done = subprocess.run([sys.executable, "-m", "relscape", "--version"], capture_output=True, check=True)
    assert rs.__version__.encode() in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_stopping_leaves_the_earlier_map_whole(pairs, made):
    """Ctrl-C ends with 130 and one line."""
    code = (
        "import time, relscape.models.spectral as s; from relscape.cli.main import run\n"
        "def slow(self, relation): print('fitting', flush=True); time.sleep(60)\n"
        "s.CorrespondenceAnalysis._embed = slow\n"
        f"run(['coembed', {str(pairs)!r}, '--rows', 'doc', '--columns', 'word', '-o', {str(made)!r}])"
    )
    before = rs.Map.load(made).coordinates("doc")
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "fitting\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "stopped; what was saved before is whole" in err
    assert "Traceback" not in err
    np.testing.assert_array_equal(rs.Map.load(made).coordinates("doc"), before)
