"""The experiment on CODE with the papers of NIPS: their maps with words and authors, alone and together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from relscape import datasets, progress
from relscape.plot import draw_map
from relscape.plot.palette import CLASS_COLORS, KIND_COLORS, LIGHT
from relscape.project import pictures
from relscape.project.code_fitting import LIKELIHOOD, joint_map, mapped, reached
from relscape.project.code_maps import Layer, detailed_maps, window
from relscape.project.outcome import Findings, Record
from relscape.project.samples import Papers, nips_papers
from relscape.protocols import FloatArray, TextArray
from relscape.scores import authorship, doc_doc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["AUTHORS", "AUTHORS_ALL", "PAPERS_ALONE", "TOPICS", "papers"]

AUTHORS, AUTHORS_ALL, TOPICS = "authorship", "authorship, all k", "doc-doc × 100 by topic"
PAPERS_ALONE = "papers, words"
_WORD_INK, _UNKNOWN = "#4B535C", "#CFD5DB"
_PAPERS_NAMED, _AUTHORS_NAMED = 6, 30
_LONGEST = 40  # letters of a title
_MISSING = (
    "volumes 13 to 17, with the topics of 15 to 17, are not in the data: the authors of the publication made "
    "them and named http://ai.stanford.edu/~gal as the place; topics here are the sessions of volumes 8 to 12"
)


def papers(settings: Mapping[str, Any]) -> Findings:
    """Map the papers, words and authors of NIPS, two kinds alone and all three by weighted likelihoods."""
    findings = Findings(("set", "α"), (LIKELIHOOD, AUTHORS, AUTHORS_ALL, TOPICS))
    data = findings.loaded(datasets.load_nips)
    if data is None:
        return findings
    chosen = nips_papers(data, settings, settings["random_state"])
    covered = np.count_nonzero(np.diff(chosen.written.indptr))
    (m, n), a = chosen.papers.shape, chosen.authors.shape[0]
    findings.notes.append(f"{m} papers × {n} words; {a} authors, who wrote {covered} of the papers")
    findings.notes.append(_MISSING)
    with progress.task("mapping NIPS", 2 + len(settings["weights"])) as task:
        _map_two_kinds(findings, chosen, settings, task)
        for alpha in settings["weights"]:
            placement, model = joint_map(chosen, alpha, settings)
            near = placement.rows, placement.columns, chosen.written
            scores = {AUTHORS: authorship(*near), AUTHORS_ALL: authorship(*near, "all")}
            findings.add({"set": "all three", "α": alpha}, placement, scores)
            task.advance()
            if alpha == settings["drawn"]:
                labels = {"paper": 0, "word": 70, "author": 50}
                findings.pictures["map"] = draw_map(model.to_map(), labels=labels, size=(12.0, 9.0))
                findings.pictures["joint"] = _draw_joint(chosen, model.embeddings_, settings)
    joint = [record for record in findings.records if record["set"] == "all three"]
    findings.pictures.update(
        pictures.curves(Findings(findings.keys, findings.measures, joint), "α", (AUTHORS, AUTHORS_ALL))
    )
    return findings


def _map_two_kinds(findings: Findings, chosen: Papers, settings: Mapping[str, Any], task: Any) -> None:
    """Map papers with words, and authors with words; say where the topics of the papers lie."""
    alone = mapped("code", chosen.papers, settings)
    if alone.rows is not None and alone.columns is not None:
        scores = {**reached(alone), TOPICS: _purity(alone.rows, chosen.topics, settings["topic_sizes"])}
        told = {**alone.chosen, "topics": _topic_places(alone.rows, chosen.topics)}
        findings.add({"set": PAPERS_ALONE, "α": "–"}, replace(alone, chosen=told), scores)
        findings.pictures["papers"] = _draw_papers(chosen, alone.rows, alone.columns, settings)
    task.advance()
    people = mapped("code", chosen.authors, settings, equal=False)
    findings.add({"set": "authors, words", "α": "–"}, people, reached(people))
    if people.rows is not None and people.columns is not None:
        findings.pictures["authors"] = _draw_authors(chosen, people.rows, people.columns, settings)
    task.advance()


def _purity(points: FloatArray, topics: TextArray, sizes: int) -> float:
    """Say how many of the papers around one of known topic are of its own, among those of known topic."""
    known = topics != ""
    return 100 * float(doc_doc(points[known], topics[known], min(sizes, np.count_nonzero(known) - 1)))


def _topic_places(points: FloatArray, topics: TextArray) -> dict[str, Record]:
    """Say for every topic how many papers it has and where their median lies."""
    return {
        topic: {
            "papers": int(np.count_nonzero(topics == topic)),
            "median": np.round(np.median(points[topics == topic], axis=0), 4).tolist(),
        }
        for topic in sorted(set(topics) - {""})
    }


# ---------------------------------------------------------------------- pictures


def _draw_papers(
    chosen: Papers, places: FloatArray, words: FloatArray, settings: Mapping[str, Any]
) -> Figure:
    named = _words(chosen, words, _WORD_INK, whole=False), _papers(chosen, places, settings)
    return detailed_maps(
        "NIPS 0 to 12: papers and words", named, _windows(chosen, words, settings), _topic_key(settings)
    )


def _draw_authors(
    chosen: Papers, places: FloatArray, words: FloatArray, settings: Mapping[str, Any]
) -> Figure:
    ink, other = KIND_COLORS[:2]
    return detailed_maps(
        "NIPS 0 to 12: authors and words",
        (_words(chosen, words, ink, whole=True), _authors(chosen, places, other)),
        _windows(chosen, words, settings),
        {"word": (ink, "o"), "author": (other, "s")},
    )


def _draw_joint(chosen: Papers, places: Mapping[str, FloatArray], settings: Mapping[str, Any]) -> Figure:
    words = places["word"]
    return detailed_maps(
        f"NIPS 0 to 12: papers, authors and words, α = {settings['drawn']:g}",
        (
            _words(chosen, words, _WORD_INK, whole=False),
            _papers(chosen, places["paper"], settings),
            _authors(chosen, places["author"], LIGHT.ink),
        ),
        _windows(chosen, words, settings),
        {**_topic_key(settings), "author": (LIGHT.ink, "s")},
    )


def _windows(chosen: Papers, words: FloatArray, settings: Mapping[str, Any]) -> dict[str, FloatArray]:
    """Find the details around words, as far as two of them are on the map."""
    found = {title: np.isin(chosen.words, list(around)) for title, around in settings["details"].items()}
    return {title: window(words[at]) for title, at in found.items() if np.count_nonzero(at) > 1}


def _words(chosen: Papers, places: FloatArray, color: str, whole: bool) -> Layer:
    """Draw words; those that are frequent and far from the middle are named first."""
    inks = np.full(len(places), color, dtype=object)
    weight = np.asarray(chosen.papers.sum(axis=0)).ravel() * (places**2).sum(axis=1)
    return Layer(places, chosen.words, weight, inks, small=2.0, large=7.0, named=45, whole=whole)


def _papers(chosen: Papers, places: FloatArray, settings: Mapping[str, Any]) -> Layer:
    """Draw papers in the colour of their topic, those without one undermost; short titles are named first."""
    key = _topic_colors(settings)
    colors = np.array([key.get(topic, _UNKNOWN) for topic in chosen.topics], dtype=object)
    known = chosen.topics != ""
    weight = np.where(known, -np.array([float(len(title)) for title in chosen.titles]), -np.inf)
    order = np.argsort(known, kind="stable")
    return Layer(
        places[order],
        chosen.titles[order],
        weight[order],
        colors[order],
        small=9.0,
        large=28.0,
        named=_PAPERS_NAMED,
        longest=_LONGEST,
    )


def _authors(chosen: Papers, places: FloatArray, color: str) -> Layer:
    """Draw authors, in capitals as in the publication; those with the most words are named first."""
    names = np.array([name.replace("_", " ").upper() for name in chosen.author_names], dtype=object)
    inks = np.full(len(places), color, dtype=object)
    weight = np.asarray(chosen.authors.sum(axis=1)).ravel()
    return Layer(places, names, weight, inks, marker="s", small=6.0, large=24.0, named=_AUTHORS_NAMED)


def _topic_colors(settings: Mapping[str, Any]) -> dict[str, str]:
    return dict(zip(settings["topics"], CLASS_COLORS, strict=False))


def _topic_key(settings: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    key = {topic: (color, "o") for topic, color in _topic_colors(settings).items()}
    return {**key, "other volumes": (_UNKNOWN, "o"), "word, in details": (_WORD_INK, ".")}
