"""A person's mistakes: one clear message with the place and the remedy, exit code 1, nothing harmed."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import relscape as rs

LONG = ("--rows", "doc", "--columns", "word", "--weight", "n")
HEAD = "doc,word,n\na,x,1\na,y,2\n"


def refused(done, *parts):
    assert done.code == 1
    assert done.out == ""
    assert done.err.startswith("error: ")
    for part in parts:
        assert part in done.err, done.err


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("b,x,-2", ("'n'", "-2", "line 4")),
        ("b,x,nan", ("'n'", "nan", "line 4")),
        ("b,x,inf", ("'n'", "inf", "line 4")),
        ("b,x,many", ("'n'", "many", "line 4")),
        ("b,x,", ("'n'", "line 4")),
        (",x,1", ("'doc'", "line 4")),
    ],
)
def test_bad_weights_and_ids(relscape, tmp_path, line, parts):
    Path("bad.csv").write_text(HEAD + line + "\nb,y,1\n")
    refused(relscape("coembed", "bad.csv", *LONG), "bad.csv", *parts)
    assert not Path("maps").exists()


def test_empty_files(relscape):
    Path("empty.csv").write_text("")
    refused(relscape("coembed", "empty.csv", *LONG), "empty.csv")
    Path("header.csv").write_text("doc,word,n\n")
    refused(relscape("coembed", "header.csv", *LONG), "header.csv")


def test_missing_column_suggests_the_nearest(relscape, pairs):
    refused(
        relscape("coembed", pairs, "--rows", "dok", "--columns", "word"),
        "'dok'", "Did you mean 'doc'?", "'word'", "pairs.csv",
    )  # fmt: skip


def test_one_of_two_columns(relscape, pairs):
    refused(relscape("coembed", pairs, "--rows", "doc"), "rows", "columns")


def test_files_that_are_not_there(relscape, pairs):
    refused(relscape("coembed", "pears.csv", *LONG), "pears.csv")
    refused(relscape("coembed", "*.parquet", *LONG), "*.parquet")
    refused(relscape("coembed"), "name at least one file")
    refused(relscape("coembed", "~0/pairs.csv", *LONG), "'~0'", "Write the whole path")


def test_file_that_is_not_what_its_name_says(relscape, pairs):
    Path("fake.parquet").write_text(pairs.read_text())
    refused(relscape("coembed", "fake.parquet", *LONG), "fake.parquet", "named as parquet")


def test_directory_where_a_file_was_meant(relscape):
    Path("folder.csv").mkdir()
    refused(relscape("coembed", "folder.csv", *LONG), "folder.csv", "texts")
    refused(relscape("coembed", "folder.csv", "--rows", "doc", "--columns", "word"), "folder.csv", "no files")


def test_one_row_only(relscape):
    Path("one.csv").write_text(HEAD)
    refused(relscape("coembed", "one.csv", *LONG), "--dimensions 2 is too large")


def test_too_many_dimensions(relscape, pairs, made):
    before = rs.Map.load(made).coordinates("doc")
    refused(relscape("coembed", pairs, *LONG, "-k", 9), "--dimensions 9 is too large", "at most 3")
    assert (rs.Map.load(made).coordinates("doc") == before).all()
    refused(relscape("coembed", pairs, *LONG, "-k", 4), "--dimensions 4, but this relation", "has 3 axes.")
    refused(relscape("coembed", pairs, *LONG, "-k", 0), "--dimensions 0")
    refused(relscape("coembed", pairs, *LONG, "-k", "two"), "--dimensions", "integer")


def test_things_without_relation(relscape):
    """Named and left out with a note, or refused with --strict."""
    Path("holes.csv").write_text("doc,word,n\na,x,1\na,y,2\nb,x,2\nb,y,1\nc,x,0\n")
    done = relscape("coembed", "holes.csv", *LONG, "-k", 1)
    assert done.code == 0
    assert "1 of 3 doc objects ('c') have no relation" in done.err
    assert rs.Map.load("maps/holes").group("doc").ids.tolist() == ["a", "b"]
    Path("maps/holes").rename("maps/kept")
    refused(relscape("coembed", "holes.csv", *LONG, "-k", 1, "--strict"), "'c'")
    assert not Path("maps/holes").exists()


def test_repeated_ids(relscape, pairs):
    Path("docs.csv").write_text("id,class\nd1,a\nd1,b\n")
    refused(relscape("coembed", pairs, *LONG, "--row-info", "docs.csv"), "docs.csv", "d1")
    Path("wide.csv").write_text("name,x,y\na,1,2\na,2,1\nb,3,1\n")
    refused(relscape("coembed", "wide.csv"), "wide.csv", "'a'")


def test_unknown_method_parameter_and_option(relscape, pairs):
    refused(relscape("coembed", pairs, *LONG, "-m", "cba"), "'cba'", "'bgp'")
    refused(relscape("coembed", pairs, *LONG, "-p", "scale=3"), "'scale'", "Did you mean 'scaling'?")
    refused(relscape("coembed", pairs, *LONG, "-p", "scaling"), "name=value")
    refused(relscape("coembed", pairs, *LONG, "-m", "lsi", "-p", ""), "''", "name=value")
    refused(relscape("coembed", pairs, *LONG, "-p", "scaling=princpal"), "Did you mean 'principal'?")
    refused(relscape("coembed", pairs, "--row", "doc"), "--row")
    refused(relscape("coembd", pairs), "coembd")
    refused(relscape("cohorts", pairs, "--label", ""), "no column ''")
    refused(relscape("kg", "train", "facts", "--seed", "-1"), "--seed")
    refused(relscape("kg", "train", "facts", "-p", "options=0"), "name each option itself")
    refused(relscape("coembed", pairs, "--text", "word", "--ngrams", "two"), "--ngrams two")


def test_no_permission(relscape, pairs, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    make = tempfile.mkdtemp

    def refuse_in_maps(*arguments, **options):
        return denied() if "maps" in str(options.get("dir")) else make(*arguments, **options)

    monkeypatch.setattr("tempfile.mkdtemp", refuse_in_maps)
    refused(relscape("coembed", pairs, *LONG), "maps/pairs", "no permission there")
    assert list(Path("maps").iterdir()) == []


def test_no_permission_to_read(relscape, pairs, monkeypatch):
    opened = Path.open

    def denied(path, *arguments, **options):
        if path.name == "pairs.csv":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", denied)
    refused(relscape("coembed", pairs, *LONG), "pairs.csv", "ermission")


def test_options_without_effect_are_refused(relscape, pairs, made):
    refused(relscape("coembed", pairs, "--dataset", "smoking"), "not both")
    refused(relscape("coembed", pairs, *LONG, "--ngrams", "1-2", "--id", "doc"), "--id, --ngrams", "--text")
    refused(relscape("coembed", pairs, *LONG, "--relation", "words"), "--dataset")
    refused(relscape("coembed", "--dataset", "smoking", "--weight", "n"), "for files")
    refused(relscape("coembed", pairs, *LONG, "--min-degree", "-5"), "--min-degree")
    refused(relscape("coembed", pairs, *LONG, "--layout", "umap"), "'umap'", "'tsne'")
    refused(relscape("coembed", pairs, *LONG, "--align-to", made, "-k", 3), "--dimensions 2")
    refused(relscape("coembed", pairs, *LONG, "--align-to", made, "--layout", "pca"), "--layout pca")
    refused(relscape("score", made, "--words", 3), "--label")
    refused(relscape("plot", made, "--layout", "pca", "--axes", "1,2"), "--axes 1,2")
    refused(relscape("plot", made, "--axes", "0,1"), "between 1 and 2")
    refused(relscape("plot", made, "--axes", "1.7,2.2"), "between 1 and 2")


def test_what_cannot_be_written_is_noticed_before_reading(relscape):
    Path("bad.csv").write_text("doc,word,n\na,x,-1\n")
    Path("thesis").mkdir()
    Path("thesis/chapter.tex").write_text("mine")
    refused(relscape("coembed", "bad.csv", *LONG, "-o", "thesis"), "something else")


def test_labels_beyond_the_terminal(pairs, made):
    pairs.write_text(pairs.read_text().replace("fish", "poisson ✓ 魚"))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "relscape"]
    subprocess.run([*command, "coembed", pairs, *LONG, "-o", made], env=environment, check=True)
    for option in ([], ["--json"]):
        done = subprocess.run(
            [*command, "neighbors", made, "doc:d3", *option], env=environment, check=True, capture_output=True
        )
        assert b"poisson" in done.stdout


def test_a_bug_is_one_line(relscape, pairs, monkeypatch):
    def broken(self, relation):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("relscape.models.spectral.CorrespondenceAnalysis._embed", broken)
    refused(relscape("coembed", pairs, *LONG), "a bug in relscape (ZeroDivisionError: oh)", "RELSCAPE_DEBUG")


def test_parameters_of_a_wrong_type(relscape, pairs):
    refused(relscape("coembed", pairs, *LONG, "-p", "scaling=[1]"), "no scaling")
    refused(relscape("coembed", pairs, *LONG, "-m", "lsi", "-p", "beta=[1]"), "beta=[1]")


def test_full_disk_leaves_the_earlier_map(relscape, pairs, made, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = rs.Map.load(made).coordinates("doc")
    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    pairs.write_text(pairs.read_text() + "d5,cat,2\nd5,bird,1\n")
    refused(relscape("coembed", pairs, *LONG), "maps/pairs", "No space left on device", "Free some space")
    assert (rs.Map.load(made).coordinates("doc") == before).all()
    assert sorted(p.name for p in Path("maps").iterdir()) == ["pairs"]


def test_output_that_is_something_else(relscape, pairs):
    Path("thesis").mkdir()
    Path("thesis/chapter.tex").write_text("mine")
    refused(relscape("coembed", pairs, *LONG, "-o", "thesis"), "thesis", "something else")
    refused(relscape("coembed", pairs, *LONG, "-o", pairs), "pairs.csv", "a file of that name")
    assert Path("thesis/chapter.tex").read_text() == "mine"


def test_maps_that_are_none(relscape, pairs):
    refused(relscape("info", "nowhere"), "nowhere")
    refused(relscape("info", pairs), "pairs.csv", "directory")
    Path("other").mkdir()
    refused(relscape("neighbors", "other", "word:x"), "map.json")


def test_questions_that_have_no_answer(relscape, made):
    refused(relscape("neighbors", made, "fish"), "kind:id")
    refused(relscape("neighbors", made, "word:fisch"), "'fisch'", "Did you mean 'fish'?")
    refused(relscape("neighbors", made, "wrd:fish"), "'wrd'", "Did you mean 'word'?")
    refused(relscape("neighbors", made, "word:fish", "-k", 0), "k=0")
    refused(relscape("plot", made, "-o", "picture.gif"), "gif", "png")
    refused(relscape("plot", made, "--color", "colour"), "'colour'")
    refused(relscape("score", made, "--label", "class"), "'class'")
    refused(relscape("score", made, "--ties", "none"), "'none'")


def test_new_things_that_share_nothing(relscape, made):
    Path("new.csv").write_text("doc,word,n\nd9,whale,3\n")
    refused(relscape("place", made, "new.csv"), "none of the 1 ids", "whale")
    Path("kinds.csv").write_text("a,b\nd9,whale\n")
    refused(relscape("place", made, "kinds.csv"), "kinds.csv", "'doc'")
    refused(relscape("place", made, "kinds.csv", "--rows", "a", "--columns", "b"), "'n'")


def test_what_the_command_line_says_is_in_its_own_words(relscape, pairs, made):
    refused(relscape("coembed", pairs), "--rows doc --columns word --weight n")
    refused(relscape("coembed", pairs, "--weight", "n"), "say with --rows and --columns")
    same = relscape("coembed", pairs, "--rows", "doc", "--columns", "doc")
    refused(same, "both name 'doc'", "relscape network")
    assert "same_kind" not in same.err
    refused(relscape("coembed", pairs, *LONG, "-p", "scaling"), "such as scaling=principal")


def test_a_map_where_a_table_belongs(relscape, made):
    refused(
        relscape("coembed", made, "-o", "maps/x"),
        "maps/pairs is a map, not a table",
        "relscape plot maps/pairs",
    )


def test_a_folder_without_a_map(relscape):
    Path("empty").mkdir()
    refused(relscape("plot", "empty"), "there is no map at empty: that folder is empty; a map has map.json")


def test_a_text_file_that_is_none(relscape):
    Path("bin.csv").write_bytes(b"a,b\n1,2\n" * 20 + b"\0\1")
    done = relscape("coembed", "bin.csv")
    refused(done, "is not a text file: byte 160 is zero. Give it the ending")
