"""Publications: papers, their words, authors and citations, from BibTeX and from JSON lines."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.labels import as_text, match, number
from relscape.errors import DataError, FormatError, RelscapeWarning, listing
from relscape.protocols import AnyArray
from relscape.sources.bibtex import author_names, parse_bibtex, plain_text
from relscape.sources.dialects import text_lines
from relscape.sources.encodings import check_encoding, decoded, encoding_of
from relscape.sources.files import COMPRESSIONS, Paths, chunks, expand
from relscape.sources.text import WordCounting, stop_list

__all__ = ["is_publications_file", "read_publications"]

_TITLES = ("title", "display_name", "name")
_TEXTS = ("abstract", "text", "summary")
_VENUES = ("venue", "journal", "booktitle", "publisher")
_YEARS = ("publication_year", "year")
_CITED = ("referenced_works", "references", "outCitations", "citations")


@dataclass(frozen=True)
class _Paper:
    """A publication, whatever file it comes from; authors by their ids."""

    id: str
    title: str
    text: str
    authors: list[str] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)
    year: str | None = None
    venue: str | None = None


def is_publications_file(path: Path) -> bool:
    """Tell a file of publications: BibTeX by its ending, JSON lines by authors in the first record."""
    endings = _endings(path)
    if endings[-1:] == [".bib"]:
        return True
    if endings[-1:] not in ([".jsonl"], [".ndjson"]):
        return False
    try:
        start = next(chunks(path, COMPRESSIONS.get(path.suffix.lower())), b"")
        first = json.loads(start.partition(b"\n")[0])
    except (OSError, ValueError):
        return False  # the reader of tables will say what is wrong
    if not isinstance(first, dict):
        return False
    return "authorships" in first or (isinstance(first.get("authors"), list) and _first(first, _TITLES) != "")


def read_publications(
    paths: Paths,
    *,
    min_df: int | float = 1,
    max_df: int | float = 1.0,
    stop_words: str | PathLike[str] | Iterable[str] | None = None,
    ngrams: tuple[int, int] = (1, 1),
    encoding: str | None = None,
) -> RelationalData:
    """Read papers with their words, authors and citations of each other.

    Parameters
    ----------
    paths : path or sequence of paths
        BibTeX (.bib), or JSON lines (.jsonl, .ndjson) with a publication a line: as OpenAlex gives works, or
        with id, title, abstract, authors (a list), year, venue and references (a list of ids).
    min_df, max_df, stop_words, ngrams
        Which words of titles, abstracts and keywords to count; as in ``read_text``.
    encoding : str, optional
        As in ``read``.

    Returns
    -------
    RelationalData
        The relation paper-word, and where there are some, paper-author and paper-paper (who cites whom;
        works cited that are not among the papers are left out). Papers are labelled by title and have the
        fields ``year`` and ``venue`` where any has.
    """
    counting = WordCounting(min_df, max_df, stop_list(stop_words), ngrams)
    counting.check("paper", "word")
    papers: list[_Paper] = []
    labels: dict[str, str] = {}
    for path in expand(paths):
        reader = _of_bibtex if _endings(path)[-1:] == [".bib"] else _of_json
        papers += reader(path, check_encoding(encoding), labels)
    if not papers:
        raise DataError(f"{listing(expand(paths), 3)}: there are no publications; expected at least one.")
    return _related(papers, labels, counting)


def _related(papers: list[_Paper], labels: Mapping[str, str], counting: WordCounting) -> RelationalData:
    papers = sorted(_each_once(papers), key=lambda paper: paper.id)
    ids = as_text([paper.id for paper in papers])
    fields: dict[str, AnyArray] = {}
    if any(paper.year for paper in papers):
        fields["year"] = _years([paper.year for paper in papers])
    if any(paper.venue for paper in papers):
        fields["venue"] = np.array([paper.venue for paper in papers], dtype=object)
    entities = [EntitySet("paper", ids, as_text([paper.title for paper in papers]), fields)]
    counts, words = counting.count(f"{paper.title}\n{paper.text}" for paper in papers)
    entities.append(EntitySet("word", words))
    relations = [Relation("paper-word", "paper", "word", counts)]
    written = [(at, name) for at, paper in enumerate(papers) for name in dict.fromkeys(paper.authors)]
    if written:
        names, codes = number([name for _, name in written], "authors")
        shown = [labels.get(name, name) for name in names]
        entities.append(EntitySet("author", names, as_text(shown)))
        pairs = _pairs([at for at, _ in written], codes, (len(papers), len(names)))
        relations.append(Relation("paper-author", "paper", "author", pairs))
    cites = [(at, name) for at, paper in enumerate(papers) for name in dict.fromkeys(paper.cited)]
    to = match([name for _, name in cites], ids)
    if (to >= 0).any():
        sources = np.array([at for at, _ in cites])
        pairs = _pairs(sources[to >= 0], to[to >= 0], (len(papers), len(papers)))
        relations.append(Relation("paper-paper", "paper", "paper", pairs))
    return RelationalData(entities, relations)


def _pairs(i: Any, j: Any, shape: tuple[int, int]) -> csr_array:
    return csr_array(coo_array((np.ones(len(i)), (np.asarray(i), np.asarray(j))), shape=shape))


def _each_once(papers: list[_Paper]) -> list[_Paper]:
    """Keep the first of papers that share an id, and say how many there were."""
    kept = {paper.id: paper for paper in reversed(papers)}
    if len(kept) < len(papers):
        warnings.warn(
            f"{len(papers) - len(kept)} publications have an id that another has, and are left out.",
            RelscapeWarning,
            stacklevel=4,
        )
    return list(kept.values())


def _years(given: list[str | None]) -> AnyArray:
    """Read years as numbers where all that are given are."""
    if all(year is None or year.strip().isdecimal() for year in given):
        if all(given):
            return np.array([int(year) for year in given if year is not None])
        return np.array([np.nan if not year else float(year) for year in given])
    return np.array(given, dtype=object)


def _endings(path: Path) -> list[str]:
    """List the endings of a name, without that of a compression."""
    endings = [ending.lower() for ending in path.suffixes]
    return endings[:-1] if endings and endings[-1] in COMPRESSIONS else endings


def _pieces(path: Path, encoding: str | None) -> Iterator[str]:
    compression = COMPRESSIONS.get(path.suffix.lower())
    return decoded(path, compression, encoding_of(path, compression, encoding))


def _of_bibtex(path: Path, encoding: str | None, labels: dict[str, str]) -> list[_Paper]:
    papers = []
    for position, entry in enumerate(parse_bibtex("".join(_pieces(path, encoding)), str(path))):
        told = {name: plain_text(value) for name, value in entry.fields.items()}
        authors = author_names(entry.fields.get("author") or entry.fields.get("editor", ""))
        labels |= {name: name for name in authors}
        text = " ".join(filter(None, (told.get("abstract"), told.get("keywords"))))
        papers.append(
            _Paper(
                entry.key or f"entry {position + 1}",
                told.get("title", ""),
                text,
                authors,
                year=told.get("year") or told.get("date", "")[:4] or None,
                venue=_first(told, _VENUES) or None,
            )
        )
    return papers


def _of_json(path: Path, encoding: str | None, labels: dict[str, str]) -> list[_Paper]:
    papers = []
    for line, record in _records(path, encoding):
        authors, where = [], f"{path}, line {line}"
        for name, label in _authors(record, where):
            labels.setdefault(name, label)
            authors.append(name)
        papers.append(
            _Paper(
                _short(str(record.get("id") or f"line {line}")),
                _first(record, _TITLES),
                " ".join(filter(None, (_abstract(record, where), *_keywords(record, where)))),
                authors,
                [_short(str(name)) for key in _CITED for name in _listed(record, key, where)],
                _first(record, _YEARS) or None,
                _venue(record),
            )
        )
    return papers


def _records(path: Path, encoding: str | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read JSON objects, one a line, each with the number of its line."""
    for line, text in enumerate(text_lines(_pieces(path, encoding)), start=1):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except ValueError as error:
            message = f"{path}, line {line}: this is not JSON ({error}); correct that line."
            raise FormatError(message) from error
        if not isinstance(record, dict):
            raise FormatError(f"{path}, line {line}: expected an object for every publication.")
        yield line, record


def _authors(record: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
    """Give ids and names of authors: those of OpenAlex's authorships, or a list of names or objects."""
    for entry in _listed(record, "authorships", where) or _listed(record, "authors", where):
        author = entry.get("author", entry) if isinstance(entry, dict) else entry
        if isinstance(author, dict):
            name = _first(author, ("display_name", "name"))
            known = _short(str(author.get("id") or name))
        else:
            name = known = str(author).strip()
        if known:
            yield known, name or known


def _listed(record: Mapping[str, Any], key: str, where: str) -> list[Any]:
    """Give the entries of a list; none where it is not there."""
    given = record.get(key) or []
    if not isinstance(given, list):
        raise DataError(f"{where}: {key} is {str(given)[:60]!r}; expected a list.")
    return given


def _abstract(record: Mapping[str, Any], where: str) -> str:
    """Give the abstract; OpenAlex lists the places of every word instead."""
    inverted = record.get("abstract_inverted_index")
    if isinstance(inverted, dict):
        inverted = {word: _listed(inverted, word, f"{where}, abstract_inverted_index") for word in inverted}
        return " ".join(" ".join([word] * len(places)) for word, places in inverted.items())
    return _first(record, _TEXTS)


def _keywords(record: Mapping[str, Any], where: str) -> Iterator[str]:
    """Give the keywords: those of a list, or a text of them."""
    text = record.get("keywords")
    for keyword in [text] if isinstance(text, str) else _listed(record, "keywords", where):
        yield _first(keyword, ("display_name", "keyword")) if isinstance(keyword, dict) else str(keyword)


def _venue(record: Mapping[str, Any]) -> str | None:
    location = record.get("primary_location")
    place = location.get("source") if isinstance(location, dict) else None
    for given in (place, record.get("host_venue")):
        name = _first(given, ("display_name",)) if isinstance(given, dict) else given
        if isinstance(name, str) and name:
            return name
    return _first(record, _VENUES) or None


def _first(told: Mapping[str, Any], names: Iterable[str]) -> str:
    """Give the first of some entries that says something, as text."""
    given = (told.get(name) for name in names)
    return next((str(value) for value in given if isinstance(value, str | int) and value), "")


def _short(name: str) -> str:
    """Shorten the addresses that OpenAlex has as ids to what stands behind the last slash."""
    return name.rpartition("/")[2] if name.startswith("https://openalex.org/") else name
