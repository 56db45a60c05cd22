"""The experiments on CODE: documents, words and authors mapped by co-occurrence, and how they are scored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from relscape import datasets, progress
from relscape.project import pictures
from relscape.project.code_fitting import LIKELIHOOD, cut, mapped, reached
from relscape.project.code_papers import papers
from relscape.project.code_pictures import path_picture, representative_words, word_maps
from relscape.project.fitting import Placement
from relscape.project.outcome import Findings, Record, by_place, methods_in
from relscape.project.samples import Documents, equal_rows, newsgroup_documents
from relscape.protocols import SparseArray
from relscape.scores import doc_doc, doc_doc_curve, doc_word, normalized_purity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PROCEDURES"]

Settings = Mapping[str, Any]

DOCUMENTS, WORDS, LIFT, PURITY, RADIUS = (
    "doc-doc × 100",
    "doc-word",
    "doc-word by lift",
    "normalised purity",
    "radius, std/mean",
)
ALL = "mean of sets"
AVERAGED = "1-100, mean"
SMOKING = "smoking"
WORD_SIZES = 100
CIRCLE = 0.15  # radii on "a circle" differ by no more, std / mean


def table(settings: Settings) -> Findings:
    """Map messages of newsgroups by every method, and see whether those of a group lie together."""
    findings = Findings(("set",), (DOCUMENTS, WORDS, PURITY))
    fits, baselines, drawn = settings["fits"], settings["baselines"], {}
    texts = _newsgroups(findings, settings)
    with progress.task("mapping newsgroups", len(texts) * (len(fits) + len(baselines))) as task:
        for name, text in texts.items():
            for method in [*fits, *baselines]:
                placement = mapped(method, text.counts, settings)
                scores = _scores(text, placement, settings["sizes"])
                findings.add({"set": name}, placement, scores)
                task.advance()
                if name == settings["drawn"]:
                    drawn[method] = (placement.rows, text.classes, placement.columns)
    if texts:
        _rescale(findings, settings["compared"])
        _average(findings)
        findings.pictures = {
            **pictures.bars(findings, (DOCUMENTS, WORDS)),
            "maps": pictures.class_maps(drawn),
        }
    return findings


def dimensions(settings: Settings) -> Findings:
    """Follow the purity of neighbourhoods over the number of axes and over their size."""
    findings = Findings(("set", "axes", "size"), (DOCUMENTS,))
    texts, axes = _newsgroups(findings, settings), settings["dimensions"]
    fits, baselines, most = settings["fits"], settings["baselines"], max(axes)
    with progress.task("trying axes", len(texts) * (len(axes) * len(fits) + len(baselines))) as task:
        for name, text in texts.items():
            whole = {}
            for method in baselines:  # the first k axes of a map are the map of k axes
                whole[method] = mapped(method, text.counts, settings, most)
                task.advance()
            for k in axes:
                for method in [*fits, *baselines]:
                    if method in whole:
                        placement = cut(whole[method], k)
                    else:
                        placement = mapped(method, text.counts, settings, k)
                        task.advance()
                    curve = 100 * doc_doc_curve(placement.rows, text.classes, max(settings["sizes"]))
                    place = {"set": name, "axes": k}
                    findings.add({**place, "size": AVERAGED}, placement, {DOCUMENTS: float(curve.mean())})
                    for size in settings["sizes"] if k == 2 else ():
                        findings.add({**place, "size": size}, placement, {DOCUMENTS: float(curve[size - 1])})
    sized = [record for record in findings.records if record["size"] != AVERAGED]
    findings.pictures = {
        **pictures.curves(findings, "axes", (DOCUMENTS,), {"size": AVERAGED}),
        **pictures.curves(Findings(findings.keys, findings.measures, sized), "size", (DOCUMENTS,)),
    }
    return findings


def semidefinite(settings: Settings) -> Findings:
    """Set PSD-CODE beside CODE by gradients and correspondence analysis, on fewer messages and words."""
    findings = Findings(("set",), (DOCUMENTS, WORDS, LIKELIHOOD))
    texts = _newsgroups(findings, settings)
    with progress.task("solving semidefinite programs", len(texts)) as task:
        for name, text in texts.items():
            for placement in _by_gradients_and_psd(text.counts, settings):
                scores = _scores(text, placement, settings["sizes"])
                findings.add({"set": name}, placement, {**scores, **reached(placement)})
            task.advance()
    if texts:
        _average(findings)
        findings.pictures = pictures.bars(findings, (DOCUMENTS, WORDS))
    smoking = datasets.load_smoking().matrix("counts")
    solved = {}
    for placement in _by_gradients_and_psd(smoking, {**settings, **settings["smoking"]}, equal=False):
        findings.add({"set": SMOKING}, placement, reached(placement))
        solved[placement.method] = placement.chosen
    findings.pictures["path"] = path_picture(solved["psd"]["path"], solved["code"][LIKELIHOOD])
    return findings


def models(settings: Settings) -> Findings:
    """Compare the eight models of CODE."""
    findings = Findings(("set",), (DOCUMENTS, WORDS, LIFT, RADIUS))
    texts, fits, drawn = _newsgroups(findings, settings), settings["fits"], {}
    with progress.task("fitting models", len(texts) * len(fits)) as task:
        for name, text in texts.items():
            for method in fits:
                placement = mapped(method, text.counts, settings)
                both = placement.rows, placement.columns
                scores = {
                    **_scores(text, placement, settings["sizes"]),
                    LIFT: doc_word(text.counts, *both, text.classes, WORD_SIZES, "lift"),
                    RADIUS: _roundness(text.counts, placement),
                    **reached(placement),
                }
                findings.add({"set": name}, placement, scores)
                task.advance()
                if name == settings["drawn"]:
                    drawn[method] = (placement.rows, text.classes, placement.columns)
    if texts:
        _average(findings)
        findings.pictures = {
            **pictures.bars(findings, (DOCUMENTS, WORDS, LIFT)),
            "maps": pictures.class_maps(drawn),
            "words": _words_of_groups(findings, settings),
        }
    return findings


PROCEDURES: Mapping[str, Callable[[Settings], Findings]] = {
    "code-table": table,
    "code-dimensions": dimensions,
    "code-semidefinite": semidefinite,
    "code-models": models,
    "code-papers": papers,
}


def _newsgroups(findings: Findings, settings: Settings) -> dict[str, Documents]:
    """Draw the messages of every set, or none where there are no newsgroups on this machine."""
    groups = sorted({group for chosen in settings["sets"].values() for group in chosen})
    data = findings.loaded(lambda: datasets.load_newsgroups20(groups))
    if data is None:
        return {}
    return {
        name: newsgroup_documents(data, chosen, settings, settings["random_state"])
        for name, chosen in settings["sets"].items()
    }


def _by_gradients_and_psd(counts: SparseArray, settings: Settings, equal: bool = True) -> Iterator[Placement]:
    """Map by CODE, by PSD-CODE, by CODE that starts from there, and by the baselines."""
    yield mapped("code", counts, settings, equal=equal)
    psd = mapped("psd", counts, settings, equal=equal)
    yield psd
    if psd.rows is not None and psd.columns is not None:
        start = {"start": np.vstack([psd.rows, psd.columns]), "n_restarts": 1}
        fits = {"psd-polished": {**settings["fits"]["code"], **start}}
        yield mapped("psd-polished", counts, {**settings, "fits": fits}, equal=equal)
    for method in settings["baselines"]:
        yield mapped(method, counts, settings)


def _words_of_groups(findings: Findings, settings: Settings) -> Figure:
    """Map more messages of one set by some models, and name words in the middle of every group."""
    chosen = settings["figure10"]
    (text,) = _newsgroups(findings, {**settings, **chosen}).values()
    maps = {}
    for method in chosen["models"]:
        placement = mapped(method, text.counts, settings)
        arc = _roundness(text.counts, placement) <= CIRCLE
        words = representative_words(text, placement, chosen["named"], arc)
        maps[method] = placement, words
        told = "; ".join(f"{group}: {', '.join(text.words[at])}" for group, at in words.items())
        findings.notes.append(f"{len(text.classes)} messages, {method}, words in the middle of {told}")
    return word_maps(text, maps)


def _scores(text: Documents, placement: Placement, sizes: int) -> Record:
    """Measure purity around documents, and words where the map has them."""
    scores = {DOCUMENTS: 100 * doc_doc(placement.rows, text.classes, sizes)}
    if placement.columns is not None:
        both = placement.rows, placement.columns
        scores[WORDS] = doc_word(text.counts, *both, text.classes, WORD_SIZES)
    return scores


def _roundness(counts: SparseArray, placement: Placement) -> float:
    """Say how unequal the distances of documents from the middle of all words are; 0 is a circle."""
    if placement.rows is None or placement.columns is None:
        return float("nan")
    share = np.asarray(equal_rows(counts).sum(axis=0))
    radius = np.linalg.norm(placement.rows - share @ placement.columns, axis=1)
    return float(radius.std() / radius.mean())


def _rescale(findings: Findings, compared: Sequence[str]) -> None:
    """Rescale doc-doc on every set, from the worst of some methods to the best of them."""
    for (name,), values in by_place(findings.records, ("set",), DOCUMENTS).items():
        scaled = normalized_purity({name: {method: values[method] for method in compared}})
        for record in findings.records:
            if record["set"] == name and record["method"] in scaled:
                record[PURITY] = scaled[record["method"]]


def _average(findings: Findings) -> None:
    """Add the mean over all sets for every method, of the measures that it has."""
    records = list(findings.records)
    for method in methods_in(records):
        own = [record for record in records if record["method"] == method]
        means = {name: fmean(r[name] for r in own) for name in findings.measures if name in own[0]}
        took = (sum(record[name] for record in own) for name in ("seconds", "CPU seconds"))
        findings.add({"set": ALL}, Placement(method, *took), means)
