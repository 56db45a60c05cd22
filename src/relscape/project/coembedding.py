"""The experiments on co-embedding of shapes and texts, and their cost: what is fitted to what, how scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from relscape import datasets, progress
from relscape.maps.align import procrustes
from relscape.project import coembedding_links, pictures
from relscape.project.coembedding_tools import (
    LOSS,
    RANK,
    SHAPE_ERROR,
    WORDS,
    Settings,
    count_of,
    options_of,
)
from relscape.project.fitting import Placement, coembeddings, placed
from relscape.project.outcome import Findings, Record
from relscape.project.samples import sampled_text, themed_relation
from relscape.scores import class_word_error, gamma_terms, mean_rank
from relscape.sources.shapes import Shape, deal_shape

__all__ = ["PROCEDURES"]

CPU = "CPU seconds"


def synthetic(settings: Settings) -> Findings:
    """Find eight shapes again by every method, in two dimensions."""
    shapes = [datasets.make_shape(name, settings["random_state"]) for name in settings["shapes"]]
    return _found_again(shapes, settings, [])


def public(settings: Settings) -> Findings:
    """Find shapes again whose points are public; the settings name the clusters that are split."""
    findings = Findings(("set",), ())
    shapes = []
    for name, mixed in settings["shapes"].items():
        data = findings.loaded(partial(datasets.load_shapes2d, name))
        if data is not None:
            shapes.append(deal_shape(name, data.points, data.labels, mixed, settings["random_state"]))
    return _found_again(shapes, settings, findings.notes)


def _found_again(shapes: Sequence[Shape], settings: Settings, notes: list[str]) -> Findings:
    """Fit every method to the relation of every shape, score it and bring it over the truth."""
    findings = Findings(("set",), (LOSS, RANK, SHAPE_ERROR), notes=notes)
    methods = coembeddings(settings.get("methods"))
    drawn: dict[str, dict[str, Any]] = {}
    with progress.task("finding shapes again", len(shapes) * len(methods)) as task:
        for shape in shapes:
            drawn[shape.name] = {"truth": (shape.row_points, shape.column_points)}
            for method in methods:
                placement = placed(method, shape.relation, 2, **options_of(settings, method))
                scores, moved = _shape_scores(shape, placement, settings["neighbours"])
                findings.add({"set": shape.name}, placement, scores)
                drawn[shape.name][method] = moved
                task.advance()
    findings.pictures = pictures.shape_pictures(drawn) if drawn else {}
    return findings


def neighbourhoods(settings: Settings) -> Findings:
    """Choose the mutual model's parameters by neighbourhoods of several sizes."""
    findings = Findings(("set", "neighbourhood"), (LOSS, RANK, SHAPE_ERROR))
    sizes, names = settings["sizes"], settings["shapes"]
    drawn: dict[str, dict[str, Any]] = {}
    with progress.task("trying neighbourhoods", len(sizes) * len(names)) as task:
        for name in names:
            shape = datasets.make_shape(name, settings["random_state"])
            drawn[name] = {"truth": (shape.row_points, shape.column_points)}
            for size in sizes:
                k_rows, k_columns = (count_of(size, side) for side in shape.relation.shape)
                options = {**options_of(settings, "mutual"), "k_rows": k_rows, "k_columns": k_columns}
                placement = placed("mutual", shape.relation, 2, **options)
                scores, moved = _shape_scores(shape, placement, settings["neighbours"])
                findings.add({"set": name, "neighbourhood": size}, placement, scores)
                drawn[name][size] = moved
                task.advance()
    findings.pictures = {"overview": pictures.shape_grid(drawn)}
    return findings


def text(settings: Settings) -> Findings:
    """Choose words by their nearness to class centres, and classify documents by them."""
    findings = Findings(("set", "axes", "words"), (WORDS,))
    loaders: dict[str, Callable[[], Any]] = {
        "newsgroups20": datasets.load_newsgroups20,
        "reuters21578": datasets.load_reuters21578,
        "reviews": datasets.load_reviews,
    }
    methods, usual = coembeddings(settings.get("methods")), settings["words_a_class"]
    for name, chosen in settings["sets"].items():
        data = findings.loaded(loaders[name])
        if data is None:
            continue
        counts, y = sampled_text(data, chosen, settings["random_state"])
        findings.notes.append(f"{name}: {counts.shape[0]} documents × {counts.shape[1]} words")
        plan = {k: [usual] for k in chosen["dimensions"]}
        plan[2] = sorted({*plan.get(2, []), *chosen["word_counts"]})
        with progress.task(f"choosing words of {name}", len(plan) * len(methods)) as task:
            for k, sizes in plan.items():
                for method in methods:
                    placement = placed(method, counts, k, **options_of(settings, method))
                    for words in sizes:
                        scores = {} if placement.rows is None else {
                            WORDS: class_word_error(
                                counts, placement.rows, placement.columns, y, words, settings["random_state"]
                            )
                        }  # fmt: skip
                        findings.add({"set": name, "axes": k, "words": words}, placement, scores)
                    task.advance()
    findings.pictures = {
        **pictures.curves(findings, "axes", (WORDS,), {"words": usual}),
        **pictures.curves(findings, "words", (WORDS,), {"axes": 2}),
    }
    return findings


def cost(settings: Settings) -> Findings:
    """Time every method as the relation and the number of axes grow."""
    findings = Findings(("set", "size", "axes"), (CPU,))
    methods, n = coembeddings(settings.get("methods")), settings["dimension_size"]
    plan = [("more things", size, settings["size_dimensions"]) for size in settings["sizes"]]
    plan += [("more axes", n, k) for k in settings["dimensions"]]
    for method in methods:  # compiled code is made before anything is timed
        placed(method, themed_relation(60, 5, 0), 2, **{**options_of(settings, method), "max_evaluations": 2})
    with progress.task("timing", len(plan) * len(methods)) as task:
        for what, size, k in plan:
            relation = themed_relation(size, settings["themes"], settings["random_state"])
            for method in methods:
                place = {"set": what, "size": size, "axes": k}
                findings.add(place, placed(method, relation, k, **options_of(settings, method)), {})
                task.advance()
    findings.pictures = {
        **pictures.curves(findings, "size", (CPU,), {"set": "more things"}, logarithmic=True),
        **pictures.curves(findings, "axes", (CPU,), {"set": "more axes"}, logarithmic=True),
    }
    return findings


PROCEDURES: Mapping[str, Callable[[Settings], Findings]] = {
    "synthetic": synthetic,
    "public": public,
    "neighbourhoods": neighbourhoods,
    **coembedding_links.PROCEDURES,
    "text": text,
    "cost": cost,
}


def _shape_scores(shape: Shape, placement: Placement, k: int) -> tuple[Record, Any]:
    """Score a map of a shape, and bring it over the truth to be drawn."""
    if placement.rows is None or placement.columns is None:
        return {}, None
    terms = gamma_terms(shape.relation, placement.rows, placement.columns, k, k, "positive")
    found = np.vstack([placement.rows, placement.columns])
    motion = procrustes(found, np.vstack([shape.row_points, shape.column_points]))
    scores = {
        LOSS: terms.ratio,
        "Γ": terms.loss,
        "Γ pairs": terms.pairs,
        RANK: mean_rank(shape.relation, placement.rows, placement.columns),
        SHAPE_ERROR: motion.residual,
    }
    return scores, (motion(placement.rows), motion(placement.columns))
