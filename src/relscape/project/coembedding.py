"""The experiments on co-embedding: what is fitted to what, and how it is scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from relscape import datasets, progress
from relscape.errors import StorageError
from relscape.maps.align import procrustes
from relscape.matrix.geodesic import link_relation
from relscape.project import pictures
from relscape.project.fitting import Placement, coembeddings, placed
from relscape.project.outcome import Findings, Record
from relscape.project.samples import sampled_text, themed_relation
from relscape.scores import class_word_error, gamma_terms, mean_rank, one_nn_errors
from relscape.sources.shapes import Shape

__all__ = ["PROCEDURES"]

Settings = Mapping[str, Any]
LOSS, RANK, SHAPE_ERROR, NEAREST, WORDS, CPU = (
    "Γ lost share",
    "mean rank",
    "Procrustes error",
    "1-NN error",
    "class-word error",
    "CPU seconds",
)


def synthetic(settings: Settings) -> Findings:
    """Find eight shapes again by every method, in two dimensions."""
    findings = Findings(("set",), (LOSS, RANK, SHAPE_ERROR))
    methods = coembeddings(settings.get("methods"))
    drawn: dict[str, dict[str, Any]] = {}
    with progress.task("finding shapes again", len(settings["shapes"]) * len(methods)) as task:
        for name in settings["shapes"]:
            shape = datasets.make_shape(name, settings["random_state"])
            drawn[name] = {"truth": (shape.row_points, shape.column_points)}
            for method in methods:
                placement = placed(method, shape.relation, 2, **_options(settings, method))
                scores, moved = _shape_scores(shape, placement, settings["neighbours"])
                findings.add({"set": name}, placement, scores)
                drawn[name][method] = moved
                task.advance()
    findings.pictures = pictures.shape_pictures(drawn)
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
                k_rows, k_columns = (_count(size, side) for side in shape.relation.shape)
                options = {**_options(settings, "mutual"), "k_rows": k_rows, "k_columns": k_columns}
                placement = placed("mutual", shape.relation, 2, **options)
                scores, moved = _shape_scores(shape, placement, settings["neighbours"])
                findings.add({"set": name, "neighbourhood": size}, placement, scores)
                drawn[name][size] = moved
                task.advance()
    findings.pictures = {"overview": pictures.shape_grid(drawn)}
    return findings


def links(settings: Settings) -> Findings:
    """Map citation networks through steps between papers."""
    findings = Findings(("set", "axes"), (RANK, NEAREST, LOSS))
    methods, dimensions = coembeddings(settings.get("methods")), settings["dimensions"]
    loaders = {"cora": datasets.load_cora, "citeseer": datasets.load_citeseer}
    for name in settings["sets"]:
        data = _present(findings, loaders[name])
        if data is None:
            continue
        classes = data.entities["doc"].fields["class"]
        made = link_relation(data.matrix("links"), classes, settings["row_share"], settings["random_state"])
        row_y, column_y = classes[made.rows], classes[made.columns]
        with progress.task(f"mapping {name}", len(methods) * len(dimensions)) as task:
            for k in dimensions:
                for method in methods:
                    placement = placed(method, made.matrix, k, **_options(settings, method))
                    scores: Record = {}
                    if placement.rows is not None:
                        both = placement.rows, placement.columns
                        errors = one_nn_errors(*both, row_y, column_y, settings["random_state"])
                        scores = {
                            RANK: mean_rank(made.matrix, *both),
                            NEAREST: errors.pooled,
                            "1-NN error, rows": errors.rows,
                            "1-NN error, columns": errors.columns,
                            LOSS: _lost(made.matrix, placement, settings["neighbours"]),
                        }
                    findings.add({"set": name, "axes": k}, placement, scores)
                    task.advance()
    findings.pictures = pictures.curves(findings, "axes", (RANK, NEAREST))
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
        data = _present(findings, loaders[name])
        if data is None:
            continue
        counts, y = sampled_text(data, chosen, settings["random_state"])
        findings.notes.append(f"{name}: {counts.shape[0]} documents × {counts.shape[1]} words")
        plan = {k: [usual] for k in chosen["dimensions"]}
        plan[2] = sorted({*plan.get(2, []), *chosen["word_counts"]})
        with progress.task(f"choosing words of {name}", len(plan) * len(methods)) as task:
            for k, sizes in plan.items():
                for method in methods:
                    placement = placed(method, counts, k, **_options(settings, method))
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
        placed(method, themed_relation(60, 5, 0), 2, **{**_options(settings, method), "max_evaluations": 2})
    with progress.task("timing", len(plan) * len(methods)) as task:
        for what, size, k in plan:
            relation = themed_relation(size, settings["themes"], settings["random_state"])
            for method in methods:
                place = {"set": what, "size": size, "axes": k}
                findings.add(place, placed(method, relation, k, **_options(settings, method)), {})
                task.advance()
    findings.pictures = {
        **pictures.curves(findings, "size", (CPU,), {"set": "more things"}, logarithmic=True),
        **pictures.curves(findings, "axes", (CPU,), {"set": "more axes"}, logarithmic=True),
    }
    return findings


PROCEDURES: Mapping[str, Callable[[Settings], Findings]] = {
    "synthetic": synthetic,
    "neighbourhoods": neighbourhoods,
    "links": links,
    "text": text,
    "cost": cost,
}


def _options(settings: Settings, method: str) -> dict[str, Any]:
    """Gather what is the same for all methods, and what the settings say of this one."""
    shared = {name: settings[name] for name in ("random_state", "max_evaluations")}
    return {**shared, **settings.get(method, {})}


def _count(size: str, things: int) -> int:
    """Read a size of neighbourhood: a number, or a share of the things there are."""
    if size.endswith("%"):
        return max(1, int(float(size.removesuffix("%")) / 100 * things))
    return int(size)


def _present(findings: Findings, load: Callable[[], Any]) -> Any:
    """Load a data set, or note what is missing and how to get it."""
    try:
        return load()
    except StorageError as error:
        findings.notes.append(str(error))
        return None


def _lost(relation: Any, placement: Placement, k: int) -> float:
    terms = gamma_terms(relation, placement.rows, placement.columns, k, k, "positive")
    return terms.ratio


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
