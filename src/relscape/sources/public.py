"""Public data sets, read from the folder that the environment variable ``RELSCAPE_DATA`` names.

Every set is a folder of Parquet tables with ids as text. ``relscape datasets convert`` makes that layout
from the publishers' own files; relscape neither ships nor downloads them. Things come sorted by
id, all of them, also those without any relation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from relscape.data import RelationalData
from relscape.data.triples import SPLITS, KnowledgeGraph
from relscape.errors import ParameterError, UnknownNameError
from relscape.protocols import FloatArray, TextArray
from relscape.sources.catalogue import dataset_info
from relscape.sources.places import named_places
from relscape.sources.stored import entity_set, links, listed, read_table, relation, text

__all__ = [
    "LabelledPoints",
    "load_citeseer",
    "load_cora",
    "load_corel5k",
    "load_fb15k",
    "load_nations",
    "load_newsgroups20",
    "load_nips",
    "load_reuters21578",
    "load_reviews",
    "load_shapes2d",
    "load_umls",
    "load_webkb",
    "load_wn18",
]


@dataclass(frozen=True, eq=False)
class LabelledPoints:
    """Points in the plane (n × 2) and the cluster that each belongs to."""

    name: str
    points: FloatArray
    labels: TextArray


def load_cora() -> RelationalData:
    """Load Cora: 2,708 machine learning papers with words and citations.

    Kinds "doc" (field "class", seven of them) and "word" (anonymous; 1,432 of the published 1,433, one of
    which never occurs). Relations "words" (doc × word, 1 where the paper has the word) and "links"
    (doc × doc, row = cited, column = citing: 5,429).
    """
    return _document_network("cora")


def load_citeseer() -> RelationalData:
    """Load CiteSeer: 3,312 computer science papers with words and citations.

    Kinds "doc" (field "class", six of them) and "word" (3,703, anonymous). Relations "words" (doc × word,
    1 where the paper has the word) and "links" (doc × doc, row = cited, column = citing): 4,591 of the 4,732
    published ones; 124 from a paper to itself and 17 that leave the set are dropped.
    """
    return _document_network("citeseer")


def load_webkb() -> RelationalData:
    """Load WebKB: 877 pages of four universities with words and links.

    Kinds "doc" (fields "class", five of them, and "university") and "word" (1,703, anonymous). Relations
    "words" (doc × word, 1 where the page has the word) and "links" (doc × doc, row = linked to, column =
    linking): 1,516 of the 1,608 published ones; 92 from a page to itself are dropped.
    """
    return _document_network("webkb")


def _document_network(name: str) -> RelationalData:
    docs = entity_set(read_table(name, "docs"), "doc")
    words = read_table(name, "words")
    word = listed(words, "word")
    return RelationalData(
        [docs, word],
        [
            relation("words", words, docs, word),
            links("links", read_table(name, "links"), docs, "cited", "citing"),
        ],
    )


def load_newsgroups20(groups: Iterable[str] | None = None) -> RelationalData:
    """Load 20 Newsgroups: 19,997 messages and how often each of 31,045 words occurs in them.

    Kinds "doc" (fields "newsgroup" and "bydate_split": train, test, or "-" for a message that the version
    sorted by date leaves out) and "word". Relation "counts" (doc × word).

    Parameters
    ----------
    groups : iterable of str, optional
        Keep the messages of these newsgroups only, and the words that occur in them.
    """
    table = read_table("newsgroups20", "docs")
    counts = read_table("newsgroups20", "counts")
    if groups is not None:
        wanted = _checked_groups(groups, text(table.column("newsgroup")))
        table = table.filter(pc.is_in(table.column("newsgroup"), value_set=wanted))
        counts = counts.filter(pc.is_in(counts.column("doc"), value_set=table.column("doc").combine_chunks()))
    return _word_counts(table, counts)


def _checked_groups(groups: Iterable[str], known: TextArray) -> pa.Array:
    names = sorted(set(known))
    chosen = list(groups)
    if not chosen:
        raise ParameterError("groups is empty; name at least one newsgroup, or give None for all.")
    for group in chosen:
        if group not in names:
            raise UnknownNameError("newsgroup", group, names)
    return pa.array(chosen, pa.large_string())


def _word_counts(docs_table: pa.Table, counts: pa.Table, label: str | None = None) -> RelationalData:
    docs, words = entity_set(docs_table, "doc", label), listed(counts, "word")
    return RelationalData([docs, words], [relation("counts", counts, docs, words, "n")])


def load_reuters21578(places: bool = False) -> RelationalData:
    """Load Reuters-21578: 9,494 newswire stories of one topic each, and their word counts.

    Kinds "doc" (fields "topic", "modapte": train, test or "-", "places": countries separated by commas, and
    "date") and "word". Relation "counts" (doc × word). For research use only.

    Parameters
    ----------
    places : bool
        Whether to add the countries as a kind "place", with latitude and longitude of their capital or
        centre as features, and the relation "places" (doc × place).
    """
    stories = _word_counts(read_table("reuters21578", "docs"), read_table("reuters21578", "counts"))
    if not places:
        return stories
    countries, named = named_places(stories.entities["doc"])
    return RelationalData([*stories.entities.values(), countries], [*stories.relations.values(), named])


def load_reviews() -> RelationalData:
    """Load product reviews: 8,000 of books, DVDs, electronics and kitchen goods, and their word counts.

    Kinds "doc" (fields "domain", "label": positive or negative, "rating" and "asin", the product) and
    "word". Relation "counts" (doc × word).
    """
    return _word_counts(read_table("reviews", "docs"), read_table("reviews", "counts"))


def load_nips() -> RelationalData:
    """Load the NIPS papers of volumes 0 to 12: word counts, authors and citations.

    Kinds "doc" (1,740, shown by title; fields "volume" and "session"), "word" (13,649) and "author" (2,037).
    Relations "counts" (doc × word), "authors" (doc × author) and "citations" (doc × doc, row = citing,
    column = cited): 1,267 of the 1,287 stored; 9 from a paper to itself are dropped, 11 are repeated.
    """
    papers = _word_counts(read_table("nips", "docs"), read_table("nips", "counts"), label="title")
    docs = papers.entities["doc"]
    authorship = read_table("nips", "authors")
    authors = listed(authorship, "author")
    return RelationalData(
        [*papers.entities.values(), authors],
        [
            *papers.relations.values(),
            relation("authors", authorship, docs, authors),
            links("citations", read_table("nips", "citations"), docs, "citing", "cited"),
        ],
    )


def load_corel5k() -> RelationalData:
    """Load Corel 5k: 5,000 photographs as visual words, with tags.

    Kinds "image" (field "split": train or test), "blob" (499 visual words) and "tag" (374). Relations
    "blobs" (image × blob) and "tags" (image × tag), 1 where the image has it.
    """
    images = entity_set(read_table("corel5k", "images"), "image")
    blobs, tags = read_table("corel5k", "blobs"), read_table("corel5k", "tags")
    blob, tag = listed(blobs, "blob"), listed(tags, "tag")
    return RelationalData(
        [images, blob, tag], [relation("blobs", blobs, images, blob), relation("tags", tags, images, tag)]
    )


def load_shapes2d(name: str) -> LabelledPoints:
    """Load one of ten sets of points in the plane, in their published order.

    Parameters
    ----------
    name : str
        compound, r15, target, aggregation, 2dnormals, flame, pathbased, d31, shapes or cassini.
    """
    table = read_table("shapes2d", "points")
    names = text(table.column("set"))
    if name not in names:
        raise UnknownNameError("set of points", name, sorted(set(names)))
    table = table.filter(pc.equal(table.column("set"), name))
    points = np.column_stack([table.column(axis).to_numpy().astype(np.float64) for axis in ("x", "y")])
    return LabelledPoints(name, points, text(table.column("label")))


def load_fb15k() -> KnowledgeGraph:
    """Load FB15k: facts from Freebase between 14,951 entities, by 1,345 relations.

    483,142 training, 50,000 validation and 59,071 test triples, as published. Entities have labels where
    the source has one. Most of its test can be looked up: 77.6 % of the test triples are known in training
    with head and tail exchanged (:meth:`KnowledgeGraph.without_inverses` leaves them out).
    """
    return _knowledge("fb15k")


def load_wn18() -> KnowledgeGraph:
    """Load WN18: facts from WordNet between 40,943 entities, by 18 relations.

    141,442 training, 5,000 validation and 5,000 test triples, as published. Seven pairs of its relations are
    each other's inverse.
    """
    return _knowledge("wn18")


def load_umls() -> KnowledgeGraph:
    """Load UMLS: facts between 135 medical concepts, by 46 relations.

    5,216 training, 652 validation and 661 test triples.
    """
    return _knowledge("umls")


def load_nations() -> KnowledgeGraph:
    """Load Nations: facts between 14 countries, by 55 relations.

    1,592 training, 199 validation and 201 test triples.
    """
    return _knowledge("nations")


def _knowledge(name: str) -> KnowledgeGraph:
    train, valid, test = (read_table(name, split) for split in SPLITS)
    labels = None
    if "entities" in dataset_info(name).tables:
        table = read_table(name, "entities")
        labels = dict(zip(text(table.column("entity")), text(table.column("label")), strict=True))
    return KnowledgeGraph(train, valid, test, entity_labels=labels)
