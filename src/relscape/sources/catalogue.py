"""What the named data sets are: their tables, sizes and sources. Facts only; loaders are elsewhere."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from relscape.errors import UnknownNameError

__all__ = ["CATALOGUE", "VARIABLE", "DatasetInfo", "Table", "dataset_info"]

VARIABLE = "RELSCAPE_DATA"


@dataclass(frozen=True)
class Table:
    """One Parquet table of a data set: its columns, and its rows in the published version."""

    columns: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set before it is read.

    ``tables`` is empty for the sets that come with relscape or with Python. ``originals`` says which of
    the publisher's files ``relscape datasets convert`` reads, and is empty where it cannot.
    """

    name: str
    title: str
    kinds: tuple[str, ...]
    size: str
    reference: str
    tables: Mapping[str, Table] = field(default_factory=dict)
    originals: str = ""

    @property
    def is_graph(self) -> bool:
        """Say whether it is a knowledge graph, for ``relscape kg``."""
        return self.kinds == ("entity",)

    @property
    def present(self) -> bool:
        """Say whether the set can be loaded now."""
        folder = os.environ.get(VARIABLE)
        if not self.tables:
            return True
        return bool(folder) and all(
            (Path(folder or "") / self.name / f"{table}.parquet").is_file() for table in self.tables
        )


def dataset_info(name: str) -> DatasetInfo:
    """Find a data set by its name."""
    if name not in CATALOGUE:
        raise UnknownNameError("data set", name, CATALOGUE)
    return CATALOGUE[name]


def _lbc(rows: tuple[int, int, int], *fields: str) -> dict[str, Table]:
    docs, words, links = rows
    return {
        "docs": Table(("doc", *fields), docs),
        "words": Table(("doc", "word"), words),
        "links": Table(("cited", "citing"), links),
    }


def _corpus(docs: int, counts: int, *fields: str) -> dict[str, Table]:
    return {"docs": Table(("doc", *fields), docs), "counts": Table(("doc", "word", "n"), counts)}


def _graph(train: int, valid: int, test: int, entities: int | None = None) -> dict[str, Table]:
    splits = {"train": train, "valid": valid, "test": test}
    tables = {split: Table(("head", "relation", "tail"), rows) for split, rows in splits.items()}
    return tables if entities is None else {**tables, "entities": Table(("entity", "label"), entities)}


_SEN = "P. Sen et al. (2008), Collective classification in network data, AI Magazine 29(3)"
_BORDES = "A. Bordes et al. (2013), Translating embeddings for modeling multi-relational data, NIPS 26"
_KOK = "S. Kok and P. Domingos (2007), Statistical predicate invention, ICML"

_SETS = (
    DatasetInfo(
        "stdlib",
        "The running Python's standard library: modules, words of their documentation, imports",
        ("module", "word"),
        "about 160 modules and 2,400 words, by Python version",
        "The Python standard library; chapters of The Python Library Reference",
    ),
    DatasetInfo(
        "stdlib_facts",
        "Facts of the same library: what its modules and classes define, inherit, import and raise",
        ("entity",),
        "about 1,700 entities, 4 relations and 4,800 facts, by Python version",
        "The Python standard library",
    ),
    DatasetInfo(
        "smoking",
        "Smoking habits of the staff of a company",
        ("staff", "smoking"),
        "5 × 4, 193 people",
        "M. J. Greenacre (1984), Theory and Applications of Correspondence Analysis, Academic Press",
    ),
    DatasetInfo(
        "hair_eye",
        "Hair and eye colour of students",
        ("hair", "eye"),
        "4 × 4, 592 people",
        "R. D. Snee (1974), Graphical display of two-way contingency tables, The American Statistician 28",
    ),
    DatasetInfo(
        "caithness",
        "Eye and hair colour of schoolchildren in Caithness",
        ("eye", "hair"),
        "4 × 5, 5,387 children",
        "R. A. Fisher (1940), The precision of discriminant functions, Annals of Eugenics 10",
    ),
    DatasetInfo(
        "cora",
        "Machine learning papers: words, citations, classes",
        ("doc", "word"),
        "2,708 papers, 1,432 words, 5,429 links, 7 classes",
        _SEN,
        _lbc((2708, 49_216, 5429), "class"),
        "cora.content and cora.cites",
    ),
    DatasetInfo(
        "citeseer",
        "Computer science papers: words, citations, classes",
        ("doc", "word"),
        "3,312 papers, 3,703 words, 4,591 links, 6 classes",
        _SEN,
        _lbc((3312, 105_165, 4732), "class"),
        "citeseer.content and citeseer.cites",
    ),
    DatasetInfo(
        "webkb",
        "Web pages of four universities: words, links, classes",
        ("doc", "word"),
        "877 pages, 1,703 words, 1,516 links, 5 classes",
        "M. Craven et al. (1998), Learning to extract symbolic knowledge from the World Wide Web, AAAI; "
        + _SEN,
        _lbc((877, 79_365, 1608), "class", "university"),
        "cornell, texas, washington and wisconsin, each as .content and .cites",
    ),
    DatasetInfo(
        "newsgroups20",
        "20 Newsgroups: messages and word counts",
        ("doc", "word"),
        "19,997 messages, 31,045 words, 20 groups",
        "K. Lang (1995), NewsWeeder: learning to filter netnews, ICML",
        _corpus(19_997, 2_692_279, "newsgroup", "bydate_split"),
        "the message folders (20_newsgroups, 20news-bydate-train, 20news-bydate-test)",
    ),
    DatasetInfo(
        "nips",
        "NIPS papers, volumes 0-12: word counts, authors, citations",
        ("doc", "word", "author"),
        "1,740 papers, 13,649 words, 2,037 authors",
        "S. Roweis, papers of the NIPS conferences 0-12 as text data",
        {
            **_corpus(1740, 933_295, "title", "volume", "session"),
            "authors": Table(("doc", "author"), 3990),
            "citations": Table(("citing", "cited"), 1287),
        },
    ),
    DatasetInfo(
        "reuters21578",
        "Reuters-21578 newswire stories of one topic each (research use only)",
        ("doc", "word"),
        "9,494 stories, 66 topics",
        "D. D. Lewis (1997), Reuters-21578 text categorization test collection, distribution 1.0",
        _corpus(9494, 567_349, "topic", "modapte", "places", "date"),
        "reut2-000.sgm to reut2-021.sgm",
    ),
    DatasetInfo(
        "reviews",
        "Product reviews of four domains, positive and negative",
        ("doc", "word"),
        "8,000 reviews, 10,411 words, 4 domains",
        "J. Blitzer, M. Dredze and F. Pereira (2007), Biographies, Bollywood, boom-boxes and blenders, ACL",
        _corpus(8000, 653_488, "domain", "label", "rating", "asin"),
    ),
    DatasetInfo(
        "corel5k",
        "Corel photographs as visual words, with tags",
        ("image", "blob", "tag"),
        "5,000 images, 499 visual words, 374 tags",
        "P. Duygulu et al. (2002), Object recognition as machine translation, ECCV",
        {
            "images": Table(("image", "split"), 5000),
            "blobs": Table(("image", "blob"), 41_351),
            "tags": Table(("image", "tag"), 17_610),
        },
    ),
    DatasetInfo(
        "shapes2d",
        "Ten sets of points in the plane with known clusters",
        (),
        "9,197 points in 10 sets",
        "C. T. Zahn (1971), C. J. Veenman et al. (2002), A. Ultsch (2005), A. Gionis et al. (2007), L. Fu "
        "and E. Medico (2007), H. Chang and D.-Y. Yeung (2008); mlbench (F. Leisch and E. Dimitriadou)",
        {"points": Table(("set", "x", "y", "label"), 9197)},
    ),
    DatasetInfo(
        "fb15k",
        "FB15k: facts from Freebase",
        ("entity",),
        "14,951 entities, 1,345 relations, 592,213 facts",
        _BORDES,
        _graph(483_142, 50_000, 59_071, 14_951),
        "freebase_mtr100_mte100-train.txt, -valid.txt and -test.txt",
    ),
    DatasetInfo(
        "wn18",
        "WN18: facts from WordNet",
        ("entity",),
        "40,943 entities, 18 relations, 151,442 facts",
        _BORDES,
        _graph(141_442, 5000, 5000, 40_943),
        "wordnet-mlj12-train.txt, -valid.txt and -test.txt (-definitions.txt for labels)",
    ),
    DatasetInfo(
        "umls",
        "UMLS: a medical ontology",
        ("entity",),
        "135 entities, 46 relations, 6,529 facts",
        _KOK,
        _graph(5216, 652, 661),
        "train.txt, valid.txt and test.txt",
    ),
    DatasetInfo(
        "nations",
        "Nations: relations between countries",
        ("entity",),
        "14 entities, 55 relations, 1,992 facts",
        _KOK,
        _graph(1592, 199, 201),
        "train.txt, valid.txt and test.txt",
    ),
)

CATALOGUE: Mapping[str, DatasetInfo] = {info.name: info for info in _SETS}
