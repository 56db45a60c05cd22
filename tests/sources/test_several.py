"""Several tables of pairs: kinds from their heads, things joined by id."""

from __future__ import annotations

import pytest

from relscape.errors import DataError, RelscapeWarning, UnknownNameError
from relscape.sources.several import pair_files, read_several, relate_the_same


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_things_are_joined_by_id(write):
    one = write("a.csv", "doc,word,n\nd1,cat,3\nd2,dog,1\n")
    two = write("b.csv", "author;word;n\nx;emu;2,5\nx;cat;1\n")
    three = write("c.csv", "doc,author\nd2,x\nd3,y\n")
    data = read_several([one, two, three])
    assert data.kinds == ("doc", "word", "author")
    assert data.entities["doc"].ids.tolist() == ["d1", "d2", "d3"]
    assert data.entities["word"].ids.tolist() == ["cat", "dog", "emu"]
    assert data.matrix("doc-word").toarray().tolist() == [[3, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert data.matrix("author-word").toarray().tolist() == [[1, 0, 2.5], [0, 0, 0]]
    assert data.matrix("doc-author").toarray().tolist() == [[0, 0], [1, 0], [0, 1]]


def test_files_of_the_same_kinds_are_summed(write):
    one = write("a.csv", "doc,word,n\nd1,cat,3\n")
    two = write("b.csv", "word,doc,n\ncat,d1,4\ndog,d1,1\n")
    other = write("c.csv", "word,word_2\ncat,dog\ndog,emu\n")
    data = read_several([one, two, other])
    assert set(data.relations) == {"doc-word", "word-word"}
    assert data.matrix("doc-word").toarray().tolist() == [[7, 1, 0]]
    assert data.matrix("word-word").toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_weights(write):
    """The column named where there is one, else the third if it holds numbers."""
    files = [
        write("a.csv", "doc,word,note,n\nd1,cat,good,3\n"),
        write("b.csv", "author,word,uses\nx,cat,2\n"),
        write("c.csv", "doc,author,role\nd1,x,first\n"),
    ]
    assert [file.weight for file in pair_files(files, "n")] == ["n", "uses", None]
    with pytest.warns(RelscapeWarning, match="are not used") as told:
        assert read_several(files, "n").matrix("doc-word").sum() == 3
    assert ["'note'" in str(told[0].message), "'role'" in str(told[1].message)] == [True, True]
    with pytest.raises(UnknownNameError, match="'m'"):
        pair_files(files, "m")
    with pytest.raises(DataError, match=r"a\.csv has 4 columns"):
        read_several(files)


def test_a_faulty_weight_is_not_passed_over(write):
    files = [
        write("a.csv", "doc,word,n\nd1,cat,3\nd1,dog,many\nd2,dog,2\n"),
        write("b.csv", "author,word\nx,cat\n"),
    ]
    with pytest.raises(DataError, match="many"):
        read_several(files)


def test_which_files_relate_the_same(write):
    one = write("a.csv", "doc,word,n\nd1,cat,3\n")
    two = write("b.csv", "word,doc,n\ncat,d1,4\n")
    three = write("c.csv", "author,word\nx,cat\n")
    assert relate_the_same(pair_files([one, two]))
    assert not relate_the_same(pair_files([one, three]))


def test_files_that_disagree(write):
    one = write("a.csv", "doc,word,n\nd1,cat,3\n")
    with pytest.raises(DataError, match=r"'n'.*'count'.*call them alike"):
        read_several([one, write("b.csv", "doc,word,count\nd1,cat,3\n")])
    with pytest.raises(DataError, match="one column"):
        read_several([one, write("c.csv", "doc\nd1\n")])
