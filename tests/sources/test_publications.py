"""Papers, words and authors from BibTeX and from JSON lines as OpenAlex gives them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relscape as rs
from relscape.errors import DataError, FormatError, ParameterError, RelscapeWarning
from relscape.sources.bibtex import author_names, parse_bibtex, plain_text

BIB = r"""
This line belongs to nothing.
@string{jml = "Journal of " # {Maps}}
@comment{ @article{hidden, title = {no}} }
@preamble{"\newcommand{\x}{y}"}
@Article{b2,
  author  = {M{\"u}ller, J{\"o}rg and Ada Lovelace and others},
  title   = "Drawing {M}aps, {drawing}
             trees",
  journal = jml,
  year    = 2004,
  month   = jan # "~1",
}
@book(a1, author = "Lovelace, Ada", title = {Trees}, year = {1999}, keywords = {maps, roots})
@misc{c3, title={Nothing here}}
"""


def counted(data: rs.RelationalData, name: str) -> dict[tuple[str, str], float]:
    relation = data.relation(name)
    entries = relation.matrix.tocoo()
    left, right = data.entities[relation.rows].ids, data.entities[relation.columns].ids
    return {(left[i], right[j]): w for i, j, w in zip(entries.row, entries.col, entries.data, strict=True)}


def test_bibtex_becomes_papers_words_and_authors(tmp_path: Path) -> None:
    (tmp_path / "refs.bib").write_text(BIB, encoding="utf-8")
    data = rs.read_publications(tmp_path / "refs.bib")
    assert data.kinds == ("paper", "word", "author")
    papers = data.entities["paper"]
    assert papers.ids.tolist() == ["a1", "b2", "c3"]
    assert papers.labels.tolist() == ["Trees", "Drawing Maps, drawing trees", "Nothing here"]
    np.testing.assert_array_equal(papers.fields["year"], [1999, 2004, np.nan])
    assert papers.fields["venue"].tolist() == [None, "Journal of Maps", None]
    assert counted(data, "paper-author") == {
        ("a1", "Ada Lovelace"): 1,
        ("b2", "Ada Lovelace"): 1,
        ("b2", "Jörg Müller"): 1,
    }
    words = counted(data, "paper-word")
    assert words["b2", "drawing"] == 2
    assert words["a1", "maps"] == words["a1", "roots"] == words["b2", "trees"] == 1
    assert rs.read(tmp_path / "refs.bib").fingerprint() == data.fingerprint()


def test_words_are_chosen_as_in_texts(tmp_path: Path) -> None:
    (tmp_path / "refs.bib").write_text(BIB, encoding="utf-8")
    data = rs.read_publications(tmp_path / "refs.bib", min_df=2)
    assert data.entities["word"].ids.tolist() == ["maps", "trees"]
    data = rs.read_publications(tmp_path / "refs.bib", stop_words=["nothing", "here"])
    assert "nothing" not in data.entities["word"].ids.tolist()
    with pytest.raises(ParameterError, match="min_df is 0"):
        rs.read_publications(tmp_path / "refs.bib", min_df=0)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"{\"U}ber {\'e}t{\'{e}} \v{C}ech {\c c} \ss{} \O re \aa", "Über été Čech ç ß Øre å"),
        (r"\emph{A} {B}--C~D \& E \% \_", "A B\u2013C D & E % _"),
        (r"{\'\i}ndice Erd{\H o}s", "índice Erdős"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_latex_is_written_as_letters(written: str, meant: str) -> None:
    assert plain_text(written) == meant


def test_names_of_authors() -> None:
    assert author_names("A. Author") == ["A. Author"]
    assert author_names("van Beethoven, Ludwig AND {Barnes and Noble}") == [
        "Ludwig van Beethoven",
        "Barnes and Noble",
    ]
    assert author_names("") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@article{a,\n title = {open", "line 1: the entry that begins here is not closed"),
        ('\n\n@article{a, title = "open', "line 3: the entry that begins here is not closed"),
        ("@article{a, title}", "line 1: expected a field"),
        ("@article{a, title = , year = 2}", "line 1: a value is missing"),
        ("@article{a", "not closed"),
    ],
)
def test_broken_entries_are_refused_by_line(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=f"refs.bib, {message}|{message}"):
        parse_bibtex(text, "refs.bib")


WORKS: list[dict[str, Any]] = [
    {
        "id": "https://openalex.org/W2",
        "display_name": "Maps of words",
        "publication_year": 2001,
        "authorships": [
            {"author": {"id": "https://openalex.org/A1", "display_name": "Ada Lovelace"}},
            {"author": {"id": "https://openalex.org/A2", "display_name": "Alan Turing"}},
        ],
        "abstract_inverted_index": {"we": [0, 2], "draw": [1]},
        "referenced_works": ["https://openalex.org/W1", "https://openalex.org/W99"],
        "primary_location": {"source": {"display_name": "Nature"}},
        "keywords": [{"display_name": "Cartography"}],
    },
    {
        "id": "https://openalex.org/W1",
        "title": "Engines",
        "publication_year": 1843,
        "authorships": [{"author": {"id": "https://openalex.org/A1", "display_name": "Ada Lovelace"}}],
        "abstract_inverted_index": None,
        "primary_location": None,
    },
]
PLAIN: list[dict[str, Any]] = [
    {"id": "p2", "title": "Maps of words", "abstract": "we draw we", "authors": ["Ada", {"name": "Alan"}],
     "references": ["p1", "gone"], "year": "2001", "venue": "Nature"},
    {"id": "p1", "title": "Engines", "authors": ["Ada"], "year": "1843"},
]  # fmt: skip


def lines(path: Path, records: list[Any]) -> Path:
    text = "\n\n".join(json.dumps(record) for record in records).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize("name", ["works.jsonl", "works.jsonl.gz"])
def test_works_of_openalex(tmp_path: Path, name: str) -> None:
    data = rs.read(lines(tmp_path / name, WORKS))
    papers, authors = data.entities["paper"], data.entities["author"]
    assert papers.ids.tolist() == ["W1", "W2"]
    assert papers.labels.tolist() == ["Engines", "Maps of words"]
    assert papers.fields["year"].tolist() == [1843, 2001]
    assert papers.fields["venue"].tolist() == [None, "Nature"]
    assert authors.ids.tolist() == ["A1", "A2"]
    assert authors.labels.tolist() == ["Ada Lovelace", "Alan Turing"]
    words = counted(data, "paper-word")
    assert words["W2", "we"] == 2
    assert words["W2", "cartography"] == words["W2", "maps"] == 1
    assert counted(data, "paper-author") == {("W1", "A1"): 1, ("W2", "A1"): 1, ("W2", "A2"): 1}
    assert counted(data, "paper-paper") == {("W2", "W1"): 1}


def test_plain_records(tmp_path: Path) -> None:
    data = rs.read_publications(lines(tmp_path / "p.ndjson", PLAIN))
    assert counted(data, "paper-author") == {("p1", "Ada"): 1, ("p2", "Ada"): 1, ("p2", "Alan"): 1}
    assert counted(data, "paper-paper") == {("p2", "p1"): 1}
    assert counted(data, "paper-word")["p2", "we"] == 2
    assert data.entities["paper"].fields["year"].tolist() == [1843, 2001]


def test_tables_of_json_lines_stay_tables(tmp_path: Path) -> None:
    path = lines(tmp_path / "pairs.jsonl", [{"doc": "a", "word": "b"}, {"doc": "c", "word": "d"}])
    assert rs.read(path, rows="doc", columns="word").kinds == ("doc", "word")
    path = lines(tmp_path / "people.jsonl", [{"title": "x", "authors": "Ada"}])
    assert rs.read(path, rows="title", columns="authors").kinds == ("title", "authors")


def test_several_files_and_repeated_ids(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", PLAIN[:1])
    lines(tmp_path / "b.jsonl", [*PLAIN[1:], {"id": "p2", "title": "Again", "authors": ["Eve"]}])
    with pytest.warns(RelscapeWarning, match="1 publications have an id that another has"):
        data = rs.read_publications([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    assert data.entities["paper"].labels.tolist() == ["Engines", "Maps of words"]


def test_bad_files_are_refused_by_name(tmp_path: Path) -> None:
    whole = lines(tmp_path / "w.jsonl", WORKS).read_bytes()
    (tmp_path / "w.jsonl").write_bytes(whole[:-20])
    with pytest.raises(FormatError, match=r"w.jsonl, line 3: this is not JSON"):
        rs.read_publications(tmp_path / "w.jsonl")
    lines(tmp_path / "w.jsonl", [[1, 2]])
    with pytest.raises(FormatError, match=r"w.jsonl, line 1: expected an object"):
        rs.read_publications(tmp_path / "w.jsonl")
    lines(tmp_path / "w.jsonl", [{"title": "x", "authors": "Ada"}])
    with pytest.raises(DataError, match=r"w.jsonl, line 1: authors is 'Ada'; expected a list"):
        rs.read_publications(tmp_path / "w.jsonl")
    (tmp_path / "e.bib").write_text("% nothing\n")
    with pytest.raises(DataError, match=r"e.bib.*there are no publications"):
        rs.read_publications(tmp_path / "e.bib")


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"references": "W1"}, "references is 'W1'; expected a list"),
        ({"keywords": 7}, "keywords is '7'; expected a list"),
        ({"abstract_inverted_index": {"word": 3}}, "abstract_inverted_index: word is '3'; expected a list"),
    ],
)
def test_fields_of_other_forms_are_refused_by_line(tmp_path: Path, told: dict, message: str) -> None:
    lines(tmp_path / "w.jsonl", [{"id": "a", "title": "some words", "authors": ["Ada"], **told}])
    with pytest.raises(DataError, match=rf"w.jsonl, line 1[:,] {message}"):
        rs.read_publications(tmp_path / "w.jsonl")


def test_venues_and_keywords_as_plain_texts(tmp_path: Path) -> None:
    told = {"title": "some words", "authors": ["Ada"]}
    works = [
        {**told, "id": "a", "host_venue": "Nature", "keywords": "kernels margins"},
        {**told, "id": "b", "primary_location": "somewhere", "venue": "Mind"},
        {**told, "id": "c", "primary_location": {"source": "Cell"}},
    ]
    data = rs.read_publications(lines(tmp_path / "w.jsonl", works))
    assert data.entities["paper"].fields["venue"].tolist() == ["Nature", "Mind", "Cell"]
    assert {"kernels", "margins"} <= set(data.entities["word"].ids)
