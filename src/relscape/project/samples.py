"""Seeded samples of data sets, of the size an experiment asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from relscape.data import RelationalData
from relscape.protocols import FloatArray, IntArray, SparseArray, TextArray

__all__ = [
    "Documents",
    "Papers",
    "equal_rows",
    "frequent_words",
    "newsgroup_documents",
    "nips_papers",
    "sampled_text",
    "themed_relation",
]


class Documents(NamedTuple):
    """Documents × words, with the class of every document and the words themselves."""

    counts: SparseArray
    classes: TextArray
    words: TextArray


class Papers(NamedTuple):
    """Papers × words, authors × words, and who wrote what (papers × authors); all with their names.

    ``topics`` are those of the papers, empty where none is known.
    """

    papers: SparseArray
    authors: SparseArray
    written: SparseArray
    paper_names: TextArray
    author_names: TextArray
    words: TextArray
    titles: TextArray
    topics: TextArray


def sampled_text(
    data: RelationalData, chosen: Mapping[str, Any], random_state: int
) -> tuple[SparseArray, TextArray]:
    """Draw documents of every class, and the words that most of them have.

    ``chosen`` says the ``relation``, the field that holds the ``label``, ``documents_a_class`` (all where a
    class has fewer), ``words``, ``widest`` (words in a larger share of the documents are left out) and,
    optionally, the ``classes``.
    """
    labels = data.entities["doc"].fields[chosen["label"]]
    classes = chosen.get("classes", set(labels))
    documents = _drawn(labels, classes, chosen["documents_a_class"], random_state)
    counts = data.matrix(chosen["relation"])[documents]
    spread = np.bincount(counts.indices, minlength=counts.shape[1])
    spread[spread > chosen["widest"] * len(documents)] = 0
    words = np.sort(np.argsort(-spread, kind="stable")[: chosen["words"]])
    return counts[:, words], labels[documents]


def newsgroup_documents(
    data: RelationalData, groups: Iterable[str], chosen: Mapping[str, Any], random_state: int
) -> Documents:
    """Draw messages of some newsgroups and count their words, without the very most frequent ones.

    ``chosen`` says ``documents_a_class``, how many of the most frequent words are ``left_out``, and how
    many ``words`` after them are kept; all are counted in the messages drawn. Messages in which none of these
    words occurs are dropped: nothing can be said of them.
    """
    labels = data.entities["doc"].fields["newsgroup"]
    documents = _drawn(labels, groups, chosen["documents_a_class"], random_state)
    counts = data.matrix("counts")[documents]
    words = frequent_words(counts, chosen["left_out"], chosen["words"])
    counts = counts[:, words]
    speaking = np.asarray(counts.sum(axis=1)) > 0
    return Documents(
        csr_array(counts[speaking]), labels[documents][speaking], data.entities["word"].ids[words]
    )


def nips_papers(data: RelationalData, chosen: Mapping[str, Any], random_state: int) -> Papers:
    """Draw papers, the words that are frequent in them, and the authors to whom most of these words belong.

    ``chosen`` says the number of ``papers`` (all where there are fewer), how many of the most frequent
    words are ``left_out``, how many ``words`` after them and how many ``authors`` are kept, and which
    sessions of which ``topic_volumes`` are about one of the ``topics``. An author's words are those of
    all papers with his or her name.
    """
    total = len(data.entities["doc"])
    rng = np.random.default_rng(random_state)
    papers = np.sort(rng.permutation(total)[: chosen["papers"]])
    counts, written = data.matrix("counts")[papers], data.matrix("authors")[papers]
    words = frequent_words(counts, chosen["left_out"], chosen["words"])
    counts = csr_array(counts[:, words])
    used = csr_array(written.T @ counts)
    authors = np.sort(np.argsort(-np.asarray(used.sum(axis=1)), kind="stable")[: chosen["authors"]])
    docs = data.entities["doc"]
    return Papers(
        counts,
        csr_array(used[authors]),
        csr_array(written[:, authors]),
        docs.ids[papers],
        data.entities["author"].ids[authors],
        data.entities["word"].ids[words],
        np.array([title.rstrip(" ,") for title in docs.shown[papers]], dtype=object),
        _topics(docs.fields, chosen["topics"], chosen["topic_volumes"])[papers],
    )


def _topics(
    fields: Mapping[str, Any], topics: Mapping[str, Iterable[str]], volumes: Iterable[int]
) -> TextArray:
    """Give every paper the topic of its session, or nothing where its volume has other sessions."""
    named = {session: topic for topic, sessions in topics.items() for session in sessions}
    known = np.isin(fields["volume"], list(volumes))
    given = [named.get(session, "") for session in fields["session"]]
    return np.where(known, np.array(given, dtype=object), "")


def frequent_words(counts: SparseArray, left_out: int, kept: int) -> IntArray:
    """Find the columns of largest sum, after leaving out the very largest ones, in their order."""
    by_frequency = np.argsort(-np.asarray(counts.sum(axis=0)), kind="stable")
    return np.sort(by_frequency[left_out : left_out + kept])


def equal_rows(counts: SparseArray) -> SparseArray:
    """Divide every row by its sum and by the number of rows, so that all weigh the same and 1 together."""
    sums = np.asarray(counts.sum(axis=1), dtype=np.float64)
    return csr_array(counts.multiply(1.0 / (sums * counts.shape[0])[:, None]))


def themed_relation(size: int, themes: int, random_state: int) -> FloatArray:
    """Make a dense relation of ``size`` rows and columns that share hidden themes, with noise."""
    rng = np.random.default_rng(random_state)
    rows, columns = (rng.dirichlet(np.full(themes, 0.3), size) for _ in range(2))
    relation: FloatArray = (rows @ columns.T) * rng.gamma(4.0, 0.25, (size, size))
    return relation


def _drawn(labels: TextArray, classes: Iterable[str], a_class: int, random_state: int) -> IntArray:
    """Draw as many things of every class, and give their positions in order."""
    rng = np.random.default_rng(random_state)
    drawn = [rng.permutation(np.flatnonzero(labels == name))[:a_class] for name in sorted(classes)]
    return np.sort(np.concatenate(drawn))
