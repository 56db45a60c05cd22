"""Documents and words: counting, choosing words, and what is refused."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from relscape import RelationalData
from relscape.errors import (
    DataError,
    FormatError,
    ParameterError,
    RelscapeWarning,
    StorageError,
    UnknownNameError,
)
from relscape.sources.text import is_text_source, read_text

TEXTS = {
    "d1": "The cat sat on the mat. The CAT!",
    "d2": "A dog, a cat and 3 ducks; don't ask why2k",
    "d3": "Ünïcode œuvre — the dog's 1999",
    "d4": "1 2 3 ...",
}


def counted(text: str) -> Counter[str]:
    """Count words in the plainest way: runs of two or more letters that touch no digit."""
    tokens = re.split(r"[^\w]+", text.lower())
    return Counter(token for token in tokens if len(token) > 1 and token.isalpha())


def table(folder: Path) -> Path:
    path = folder / "talks.csv"
    rows = "".join(f'{name},"{text}"\n' for name, text in TEXTS.items())
    path.write_text("title,abstract\n" + rows, encoding="utf-8")
    return path


def check(data: RelationalData) -> None:
    words = sorted(set().union(*map(counted, TEXTS.values())))
    assert data.entities["word"].ids.tolist() == words
    expected = [[counted(text)[word] for word in words] for text in TEXTS.values()]
    assert data.matrix().toarray().tolist() == expected
    assert data.matrix().dtype == np.float64


def test_a_column_of_texts(tmp_path: Path) -> None:
    data = read_text(table(tmp_path), text="abstract", id="title")
    assert data.kinds == ("doc", "word")
    assert data.relation().name == "doc-word"
    assert data.entities["doc"].ids.tolist() == list(TEXTS)
    check(data)


def test_documents_without_ids_are_numbered(tmp_path: Path) -> None:
    data = read_text(table(tmp_path), "abstract", rows="talk", columns="term")
    assert data.kinds == ("talk", "term")
    assert data.entities["talk"].ids.tolist() == ["0", "1", "2", "3"]


def test_a_folder_of_files_in_several_encodings(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / ".hidden").write_bytes(b"\0\0")
    places = ["a.txt", "b", "sub/c.txt", "sub/d.md"]
    encodings = ["utf-8-sig", "utf-16", "cp1252", "ascii"]
    for place, encoding, text in zip(places, encodings, TEXTS.values(), strict=True):
        (folder / place).write_bytes(text.encode(encoding))
    for given in (folder, str(folder), [folder / "a.txt", folder / "b", folder / "sub"]):
        with pytest.warns(RelscapeWarning, match=r"c\.txt is not UTF-8 and was read as cp1252") as said:
            data = read_text(given)
        assert len(said) == 1
        assert data.entities["doc"].ids.tolist() == ["a", "b", "sub/c", "sub/d"]
        check(data)
    with pytest.warns(RelscapeWarning, match=r"c\.txt is not UTF-8"):
        assert read_text(folder / "**" / "*.txt").entities["doc"].ids.tolist() == ["a", "sub/c"]
    assert read_text(folder / "a.txt").entities["doc"].ids.tolist() == ["a"]


def test_endings_stay_where_names_would_repeat(tmp_path: Path) -> None:
    for name in ("a.txt", "a.md", "b.txt"):
        (tmp_path / name).write_text("some words")
    assert read_text(tmp_path).entities["doc"].ids.tolist() == ["a.md", "a.txt", "b"]


def test_a_document_keeps_its_name_as_folders_come(tmp_path: Path) -> None:
    for place in ("old/ast.txt", "old/sub/csv.txt", "new/zip.txt"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("some words")
    old, new = tmp_path / "old", tmp_path / "new"
    assert read_text(old).entities["doc"].ids.tolist() == ["ast", "sub/csv"]
    assert read_text([old, new]).entities["doc"].ids.tolist() == ["ast", "sub/csv", "zip"]
    (new / "ast.txt").write_text("other words")
    assert read_text([old, new]).entities["doc"].ids.tolist() == ["old/ast", "sub/csv", "new/ast", "zip"]
    (new / "ast.md").write_text("other words")
    ids = read_text([old, new]).entities["doc"].ids.tolist()
    assert ids == ["old/ast", "sub/csv", "ast.md", "new/ast", "zip"]
    (old / "sub" / "ast.txt.md").write_text("more words")
    assert len(set(read_text([old, old / "sub", new]).entities["doc"].ids)) == 6


def test_names_that_would_repeat_whatever_is_added(tmp_path: Path) -> None:
    for name in ("a.md", "a.txt", "a.txt.rst"):
        (tmp_path / name).write_text("some words")
    ids = read_text(tmp_path).entities["doc"].ids.tolist()
    assert ids == ["a.md", "a.txt", "a.txt.rst"]


def test_what_is_read_as_text(tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("a.txt", "B.MD", "c.rst")]
    for place in places:
        place.write_text("some words")
    (tmp_path / "t.csv").write_text("doc,word\na,x\n")
    assert read_text(places).entities["doc"].ids.tolist() == ["a", "B", "c"]
    for given in (tmp_path, str(tmp_path), places, [*places, tmp_path], tmp_path / "*.txt"):
        assert is_text_source(given)
    for given in (tmp_path / "t.csv", [*places, tmp_path / "t.csv"], tmp_path / "*"):
        assert not is_text_source(given)
    with pytest.raises(StorageError, match=r"there is no file .*d\.txt"):
        is_text_source([*places, tmp_path / "d.txt"])


def test_relative_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("some words")
    Path("b.txt").write_text("other words")
    assert read_text(["a.txt", "b.txt"]).entities["doc"].ids.tolist() == ["a", "b"]
    assert read_text("*.txt").entities["doc"].ids.tolist() == ["a", "b"]
    assert read_text(".").entities["doc"].ids.tolist() == ["a", "b"]


@pytest.mark.parametrize(("low", "high"), [(2, 1.0), (1, 2), (0.4, 1.0), (1, 0.5), (0.3, 0.6), (1, 1)])
def test_document_frequencies_as_in_scikit_learn(tmp_path: Path, low: float, high: float) -> None:
    texts = ["one two three four", "two three four", "three four", "four five five", "six four"]
    pq.write_table(pa.table({"t": texts}), tmp_path / "t.parquet")
    data = read_text(tmp_path / "t.parquet", "t", min_df=low, max_df=high)
    reference = CountVectorizer(min_df=low, max_df=high)
    expected = reference.fit_transform(texts).toarray()
    assert data.entities["word"].ids.tolist() == reference.get_feature_names_out().tolist()
    assert (data.matrix().toarray() == expected).all()


def test_ngrams(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("new york new")
    words = read_text(tmp_path, ngrams=(1, 2)).entities["word"].ids.tolist()
    assert words == ["new", "new york", "york", "york new"]
    assert read_text(tmp_path, ngrams=(2, 2)).entities["word"].ids.tolist() == ["new york", "york new"]


def test_stop_words(tmp_path: Path) -> None:
    path = table(tmp_path)
    english = read_text(path, "abstract", stop_words="english").entities["word"].ids
    assert not {"the", "and", "on"} & set(english)
    assert {"cat", "dog"} <= set(english)
    stops = tmp_path / "stop.txt"
    stops.write_text("The\ncat\nDON'T\n")
    from_file = read_text(path, "abstract", stop_words=stops).entities["word"].ids.tolist()
    from_list = read_text(path, "abstract", stop_words=["The", "cat", "DON'T"]).entities["word"].ids.tolist()
    assert from_file == from_list
    assert not {"the", "cat", "don"} & set(from_file)


def test_a_given_vocabulary_keeps_its_order(tmp_path: Path) -> None:
    data = read_text(table(tmp_path), "abstract", "title", vocabulary=["dog", "zebra", "cat"])
    assert data.entities["word"].ids.tolist() == ["dog", "zebra", "cat"]
    assert data.matrix().toarray().tolist() == [[0, 0, 2], [1, 0, 1], [1, 0, 0], [0, 0, 0]]


def test_a_missing_text_is_an_empty_document(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,t\na,some words\nb,\n")
    assert read_text(tmp_path / "t.csv", "t", "id").matrix().toarray().tolist() == [[1, 1], [0, 0]]


def test_several_tables(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("id,t\n001,some words\n")
    (tmp_path / "2.csv").write_text("t;id\nother words;002\n")
    data = read_text(tmp_path / "*.csv", "t", "id")
    assert data.entities["doc"].ids.tolist() == ["001", "002"]
    assert data.matrix().toarray().tolist() == [[0, 1, 1], [1, 0, 1]]


@pytest.mark.parametrize("low", [3, 0.9])
def test_no_word_remains(tmp_path: Path, low: float) -> None:
    with pytest.raises(DataError, match=r"no word remains: min_df=.* of the 4 documents.* is in 2 and"):
        read_text(table(tmp_path), "abstract", min_df=low)


def test_no_words_at_all(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1 2 3 the")
    with pytest.raises(DataError, match="no word of two letters"):
        read_text(tmp_path, stop_words="english")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"stop_words": "klingon"}, "stop_words is 'klingon'"),
        ({"ngrams": (2, 1)}, "ngrams is"),
        ({"ngrams": (0, 1)}, "ngrams is"),
        ({"ngrams": 2}, "ngrams is 2"),
        ({"ngrams": "1-2"}, "ngrams is '1-2'"),
        ({"ngrams": (1, 2, 3)}, "ngrams is"),
        ({"min_df": 0}, "min_df is 0"),
        ({"min_df": 1.5}, "min_df is 1.5"),
        ({"max_df": "all"}, "max_df is 'all'"),
        ({"max_df": True}, "max_df is True"),
        ({"vocabulary": []}, "at least one word"),
        ({"vocabulary": "word"}, "at least one word"),
        ({"vocabulary": ["a", "a"]}, "twice"),
        ({"vocabulary": ["cat"], "min_df": 2}, "one or the other"),
        ({"rows": "word"}, "different names"),
        ({"text": None, "id": "title"}, "give the column of texts"),
        ({"text": None}, r"talks\.csv is a table: say with text"),
    ],
)
def test_bad_parameters(tmp_path: Path, parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        read_text(table(tmp_path), **{"text": "abstract", **parameters})


def test_bad_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,t,n\na,some words,1\na,more words,2\n")
    with pytest.raises(DataError, match=r"t\.csv: column 'n' holds int64, not text"):
        read_text(path, "n")
    with pytest.raises(DataError, match=r"t\.csv: column 'id' .*'a' at line 2 and line 3"):
        read_text(path, "t", "id")
    with pytest.raises(UnknownNameError, match=r"no column 'txt' in .*t\.csv"):
        read_text(path, "txt")
    path.write_text("id,t\n")
    with pytest.raises(DataError, match="no rows"):
        read_text(path, "t")


def test_bad_folders(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="has no files"):
        read_text(tmp_path)
    with pytest.raises(StorageError, match="there is no file"):
        read_text(tmp_path / "nowhere")
    (tmp_path / "pairs.csv").write_text("doc,word\na,b\n")
    with pytest.raises(ParameterError, match=r"holds tables, not texts: .*/\*\.csv'"):
        read_text(tmp_path)
    (tmp_path / "pairs.csv").unlink()
    (tmp_path / "a.txt").write_text("some words")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    with pytest.raises(FormatError, match=r"photo\.png is not a text file"):
        read_text(tmp_path)


def test_documents_in_a_said_encoding(tmp_path: Path) -> None:
    for name, text in (("a.txt", "слово дом"), ("b.txt", "дом")):
        (tmp_path / name).write_bytes(text.encode("cp1251"))
    data = read_text(tmp_path, encoding="cp1251")
    assert data.entities["word"].ids.tolist() == ["дом", "слово"]
    with pytest.warns(RelscapeWarning, match=r"a\.txt \(and 1 other files\) is not UTF-8"):
        assert "дом" not in read_text(tmp_path).entities["word"].ids
    with pytest.raises(FormatError, match=r"a\.txt is not utf-8 text: at byte 0"):
        read_text(tmp_path, encoding="utf-8")
    with pytest.raises(ParameterError, match="encoding is 'klingon'"):
        read_text(tmp_path, encoding="klingon")
    table = tmp_path / "t.csv"
    table.write_bytes("title,body\nа,слово дом\n".encode("cp1251"))
    assert read_text(table, "body", "title", encoding="cp1251").entities["doc"].ids.tolist() == ["а"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_file_names_that_are_no_text(tmp_path: Path) -> None:
    place = os.fsencode(tmp_path)
    for name in (b"caf\xe9.txt", b"caf\xe8.txt"):
        Path(os.fsdecode(place + b"/" + name)).write_text("some words")
    data = read_text(tmp_path)
    assert data.entities["doc"].ids.tolist() == [r"caf\xe8", r"caf\xe9"]
    Path(os.fsdecode(place + b"/caf\xe9.txt")).write_bytes(b"\0\0\1\2")
    with pytest.raises(FormatError, match=r"caf\\xe9\.txt is not a text file"):
        read_text(tmp_path)
