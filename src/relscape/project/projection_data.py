"""What projections are tried on: things with features, the tags they are judged by, and further guidance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from relscape import datasets
from relscape.data import RelationalData
from relscape.project.samples import frequent_words
from relscape.protocols import BoolArray, FloatArray, IntArray, SparseArray, TextArray

__all__ = ["Further", "Parts", "Study", "dealt", "study_of"]

Chosen = Mapping[str, Any]


class Further(NamedTuple):
    """Guidance beside that which is judged: how things relate to those of a kind (``ids``), maybe their own.

    Without ``features`` the things of that kind are told apart and nothing else is known of them.
    """

    kind: str
    ids: TextArray
    weights: SparseArray
    features: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Study:
    """Things (their kind, ids, and counts of words), their tags (things × tags), and further guidance.

    ``tag_features`` describe the tags where something is known of them, ``held_out`` are the test things
    where the publishers of the data say which.
    """

    kind: str
    ids: TextArray
    counts: SparseArray
    tag: str
    tags: SparseArray
    tag_ids: TextArray
    further: Mapping[str, Further] = field(default_factory=dict)
    tag_features: FloatArray | None = None
    held_out: BoolArray | None = None


class Parts(NamedTuple):
    """Positions of the things to train with, and of those to test with."""

    train: IntArray
    test: IntArray


def study_of(chosen: Chosen) -> Study:
    """Load what a table of settings describes; ``data`` names it, the other entries say how much of it."""
    return _STUDIES[chosen["data"]](chosen)


def dealt(study: Study, share: float, training: float, seed: int) -> Parts:
    """Hold out a share of the things, drawn by seed or as published, and train with a part of the others.

    The smaller parts to train with are contained in the larger ones.
    """
    order = np.random.default_rng(seed).permutation(len(study.ids))
    if study.held_out is None:
        count = round(share * len(order))
        test, others = order[:count], order[count:]
    else:
        test, others = order[study.held_out[order]], order[~study.held_out[order]]
    return Parts(np.sort(others[: max(2, round(training * len(others)))]), np.sort(test))


def _topics(chosen: Chosen) -> Study:
    """Stories with their topic, one each; the places they name are further guidance.

    At most ``a_topic`` stories of every topic are drawn, where that is given.
    """
    data = datasets.load_reuters21578(places=True)
    topics, topic_ids = _one_hot(data.entities["doc"].fields["topic"])
    kept = _common(topics, chosen)
    told = _drawn(topics, kept, chosen["a_topic"]) if "a_topic" in chosen else _tagged(topics, kept, chosen)
    places = data.relations["places"].matrix[told]
    return Study(
        "document",
        data.entities["doc"].ids[told],
        _words(data, "counts", told, chosen),
        "topic",
        csr_array(topics[told][:, kept]),
        topic_ids[kept],
        {"places": _named_places(data, places)},
    )


def _places(chosen: Chosen) -> Study:
    """Stories with the places they name; their topic is further guidance."""
    data = datasets.load_reuters21578(places=True)
    places = data.relations["places"].matrix
    kept = _common(places, chosen)
    told = _tagged(places, kept, chosen)
    topics, topic_ids = _one_hot(data.entities["doc"].fields["topic"][told])
    return Study(
        "document",
        data.entities["doc"].ids[told],
        _words(data, "counts", told, chosen),
        "place",
        csr_array(places[told][:, kept]),
        data.entities["place"].ids[kept],
        {"topics": Further("topic", topic_ids, topics)},
        _globe(data)[kept],
    )


def _photographs(chosen: Chosen) -> Study:
    """Photographs as visual words, with tags; the tags that are not judged by are further guidance.

    ``split`` "own" holds out what the publishers do.
    """
    data = datasets.load_corel5k()
    tags, tag_ids = data.relations["tags"].matrix, data.entities["tag"].ids
    kept = _common(tags, chosen)
    told = _tagged(tags, kept, chosen)
    others = np.setdiff1d(np.arange(tags.shape[1]), kept)
    images = data.entities["image"].select(told)
    return Study(
        "image",
        images.ids,
        csr_array(data.relations["blobs"].matrix[told]),
        "tag",
        csr_array(tags[told][:, kept]),
        tag_ids[kept],
        {"other tags": Further("other tag", tag_ids[others], csr_array(tags[told][:, others]))},
        held_out=images.fields["split"] == "test" if chosen.get("split") == "own" else None,
    )


def _papers(chosen: Chosen) -> Study:
    """Papers with their authors; citations between papers, and words as things, are further guidance.

    A word among the ``further_words`` most frequent relates to a paper by its share of that paper's largest
    count of such a word. Papers name their authors in headings and references; with ``names_left_out`` the
    authors' surnames are no words.
    """
    data = datasets.load_nips()
    authors = data.relations["authors"].matrix
    kept = _common(authors, chosen)
    told = _tagged(authors, kept, chosen)
    papers = data.entities["doc"].ids[told]
    citations = data.relations["citations"].matrix[told][:, told]
    counts, vocabulary = csr_array(data.relations["counts"].matrix[told]), data.entities["word"].ids
    names = data.entities["author"].ids[kept]
    if chosen.get("names_left_out", False):
        plain = np.flatnonzero(~np.isin(vocabulary, [name.split("_")[0].lower() for name in names]))
        counts, vocabulary = csr_array(counts[:, plain]), vocabulary[plain]
    frequent = frequent_words(counts, chosen["left_out"], chosen["further_words"])
    words = counts[:, frequent]
    largest = np.maximum(words.max(axis=1).toarray().ravel(), 1.0)
    return Study(
        "paper",
        papers,
        csr_array(counts[:, frequent_words(counts, chosen["left_out"], chosen["words"])]),
        "author",
        csr_array(authors[told][:, kept]),
        names,
        {
            "citations": Further("paper", papers, _either_way(citations)),
            "words": Further(
                "word",
                vocabulary[frequent],
                csr_array(words.multiply(1.0 / largest[:, None])),
            ),
        },
    )


def _modules(chosen: Chosen) -> Study:
    """Modules of the standard library with their chapters; who imports whom is further guidance."""
    data = datasets.load_stdlib()
    chapters, chapter_ids = _one_hot(data.entities["module"].fields["chapter"])
    sizes = np.asarray(chapters.sum(axis=0)).ravel()
    kept = np.flatnonzero((sizes >= chosen["fewest"]) & (chapter_ids != "Other"))
    told = _tagged(chapters, kept, chosen)
    modules = data.entities["module"].ids[told]
    return Study(
        "module",
        modules,
        csr_array(data.relations["words"].matrix[told]),
        "chapter",
        csr_array(chapters[told][:, kept]),
        chapter_ids[kept],
        {"imports": Further("module", modules, _either_way(data.relations["imports"].matrix[told][:, told]))},
    )


_STUDIES: Mapping[str, Callable[[Chosen], Study]] = {
    "topics": _topics,
    "places": _places,
    "photographs": _photographs,
    "papers": _papers,
    "modules": _modules,
}


def _one_hot(labels: TextArray) -> tuple[SparseArray, TextArray]:
    """Relate things to their labels, which are sorted."""
    names, codes = np.unique(labels.astype(str), return_inverse=True)
    member = csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)), shape=(len(codes), len(names)))
    return member, names.astype(object)


def _common(tags: SparseArray, chosen: Chosen) -> IntArray:
    """Choose the ``tags`` most common ones after leaving out the ``dropped`` very most common."""
    return frequent_words(tags, chosen["dropped"], chosen["tags"])


def _tagged(tags: SparseArray, kept: IntArray, chosen: Chosen) -> IntArray:
    """Find the things with one of some tags at least, and draw ``things`` of them where that is given."""
    told = np.flatnonzero(np.diff(csr_array(tags[:, kept]).indptr))
    order = np.random.default_rng(0).permutation(told)
    return np.sort(order[: chosen.get("things", len(order))])


def _drawn(tags: SparseArray, kept: IntArray, most: int) -> IntArray:
    """Draw some things of every tag."""
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(tags[:, [tag]].toarray().ravel()) for tag in kept]
    return np.unique(np.concatenate([rng.permutation(things)[:most] for things in members]))


def _words(data: RelationalData, relation: str, told: IntArray, chosen: Chosen) -> SparseArray:
    """Count the most frequent words of some documents, without the ``left_out`` very most frequent."""
    counts = csr_array(data.relations[relation].matrix[told])
    return csr_array(counts[:, frequent_words(counts, chosen["left_out"], chosen["words"])])


def _either_way(links: SparseArray) -> SparseArray:
    """Relate things that are linked in one direction or both, by 1."""
    both = csr_array(links + links.T)
    both.data[:] = 1.0
    return both


def _named_places(data: RelationalData, places: SparseArray) -> Further:
    """Take the places that some documents name, as points on the globe."""
    named = np.flatnonzero(places.sum(axis=0))
    return Further(
        "place", data.entities["place"].ids[named], csr_array(places[:, named]), _globe(data)[named]
    )


def _globe(data: RelationalData) -> FloatArray:
    """Turn latitudes and longitudes into points on a sphere of radius 1, where near is near on the globe."""
    latitude, longitude = np.radians(np.asarray(data.entities["place"].features)).T
    flat = np.cos(latitude)
    return np.column_stack([flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)])
