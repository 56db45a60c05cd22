"""``relscape neighbors``, ``info`` and ``score``: questions to a map."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from relscape.cli import read_options, reading
from relscape.cli.cohort_report import print_scores
from relscape.cli.console import aside, next_step, print_json, print_table, say, telling_warnings
from relscape.cli.guidance_report import has_guidance, tell_guidance_scores
from relscape.cli.network_source import has_network
from relscape.cli.placing import has_cohorts
from relscape.cli.reading import Reading
from relscape.data import Relation
from relscape.data.labels import match
from relscape.errors import ParameterError, UnknownNameError
from relscape.maps import Map, Neighbor
from relscape.maps.captions import dimensions_told
from relscape.project.relation_scores import relation_scores
from relscape.protocols import AnyArray

__all__ = ["info", "neighbors", "score"]

_MOST_LISTED = 6
MapPath = Annotated[Path, typer.Argument(metavar="MAP", help="Directory of a map.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result for machines.")]


def neighbors(
    map_path: MapPath,
    queries: Annotated[list[str], typer.Argument(metavar="KIND:ID", help="Things to ask about.")],
    among: Annotated[list[str] | None, typer.Option(help="Kinds to look among.", show_default="all")] = None,
    k: Annotated[int, typer.Option("--k", "-k", help="How many of each kind.")] = 10,
    as_json: Json = False,
) -> None:
    """Show what is near a thing on the map, of every kind."""
    joint = Map.load(map_path)
    answers = {
        query: {kind: joint.neighbors(query, kind, k) for kind in (among or joint.groups)}
        for query in queries
    }
    if as_json:
        print_json(
            {
                query: {kind: [n._asdict() for n in found] for kind, found in kinds.items()}
                for query, kinds in answers.items()
            }
        )
        return
    for query, kinds in answers.items():
        say(f"nearest to {query}")
        for kind, found in kinds.items():
            print_table([kind, "distance"], [(_name(n), f"{n.distance:.4g}") for n in found])
    next_step(f"relscape plot {map_path}")


def _name(found: Neighbor) -> str:
    return found.id if found.label == found.id else f"{found.label} ({found.id})"


def info(map_path: MapPath, as_json: Json = False) -> None:
    """Say what a map holds, what made it, and how good it is."""
    joint = Map.load(map_path)
    groups: dict[str, dict[str, Any]] = {
        group.kind: {"things": len(group), "fields": sorted(group.fields)}
        for group in (joint.group(kind) for kind in joint.groups)
    }
    relations = {
        relation.name: {"from": relation.rows, "to": relation.columns, "pairs": relation.matrix.nnz}
        for relation in joint.relations.values()
    }
    content: dict[str, Any] = {
        "map": str(map_path),
        "model": joint.model,
        "dimensions": joint.n_components,
        "groups": groups,
        "layout": joint.drawn_by,
        "relations": relations,
        "arrays": {name: list(array.shape) for name, array in joint.arrays.items()},
        "can_place_new_things": joint.model_state is not None,
        "parameters": joint.parameters,
        "learned": _learned(joint),
        "scores": joint.scores,
        "provenance": joint.provenance,
    }
    if as_json:
        print_json(content)
        return
    drawn_by = joint.drawn_by.get("method", "hand")
    say(f"{joint.model or 'A map'} in {dimensions_told(joint)}, drawn by {drawn_by}.")
    rows = [(kind, f"{g['things']:,}", ", ".join(g["fields"])) for kind, g in groups.items()]
    print_table(["kind", "things", "fields"], rows)
    for title in ("parameters", "learned", "scores", "provenance"):
        _print_mapping(title, content[title])
    next_step(f"relscape neighbors {map_path} '{joint.groups[0]}:{joint.group(joint.groups[0]).ids[0]}'")


def _learned(joint: Map) -> dict[str, Any]:
    """Give the weights that a map of cohorts was made with, where they were left to the model."""
    if not has_cohorts(joint) or joint.model_state is None:
        return {}
    names = (
        ("alpha_", "eta_", "scale_") if joint.parameters.get("variant") == "eigen" else ("alpha_", "scale_")
    )
    values = joint.model_state.values
    found = {name.removesuffix("_"): values[name] for name in names if values.get(name) is not None}
    return found | ({"cohorts": len(joint.group("cohort"))} if "cohort" in joint.groups else {})


def _print_mapping(title: str, content: dict[str, Any]) -> None:
    if content:
        print_table([title, ""], [(key, _short(value)) for key, value in content.items()])


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_short(part)}" for key, part in value.items())
    if isinstance(value, list) and len(value) > _MOST_LISTED:
        return f"[{', '.join(map(_short, value[:_MOST_LISTED]))} and {len(value) - _MOST_LISTED} more]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def score(
    map_path: MapPath,
    files: read_options.Files = None,
    database: read_options.From = None,
    query: read_options.Query = None,
    rows: read_options.Rows = None,
    columns: read_options.Columns = None,
    weight: read_options.Weight = None,
    dataset: read_options.Dataset = None,
    relation: read_options.RelationName = None,
    encoding: read_options.Encoding = None,
    label: Annotated[str | None, typer.Option(help="Field with the classes of the row things.")] = None,
    k_rows: Annotated[int, typer.Option(help="Row things that count as near a column thing.")] = 5,
    k_columns: Annotated[int, typer.Option(help="Column things that count as near a row thing.")] = 5,
    ties: Annotated[str, typer.Option(help="index, inclusive or positive.")] = "positive",
    words: Annotated[
        int | None,
        typer.Option(help="Also an SVM's error on so many columns nearest each class."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the cross-validation.")] = 0,
    store: Annotated[bool, typer.Option("--store", help="Write the scores into the map.")] = False,
    as_json: Json = False,
) -> None:
    """Measure a map against the relation it was made from, and against classes if there are some.

    A map of cohorts carries its scores, which are printed. One of guided kinds is measured by the guidance it
    carries, unless files are named.
    """
    from relscape.scores import class_word_error, one_nn_error

    if words is not None and label is None:
        raise ParameterError("--words needs classes: name their field with --label.")
    with telling_warnings():
        joint = Map.load(map_path)
        if has_cohorts(joint):
            _tell_cohort_scores(joint, map_path, as_json)
            return
        if has_network(joint):
            raise ParameterError(
                f"{map_path} is a map of linked documents, measured by where links stand: 'relscape network "
                f"score {map_path} LINKS'."
            )
        if has_guidance(joint) and not files and database is None and dataset is None:
            if label is not None:
                raise ParameterError(
                    f"--label {label}: name the files of a relation to measure classes beside it."
                )
            tell_guidance_scores(joint, map_path, store, as_json)
            return
        source = Reading(
            reading.named(files, database, query),
            rows,
            columns,
            weight,
            dataset=dataset,
            relation=relation,
            encoding=encoding,
        )
        truth = _truth(joint, source)
        left, right = joint.coordinates(truth.rows), joint.coordinates(truth.columns)
        classes = None if label is None else _classes(joint, truth.rows, label)
        scores = relation_scores(joint, truth, k_rows, k_columns, ties)
        if k_rows >= len(left) - 1 or k_columns >= len(right) - 1:
            aside("nearly all things count as near here: lower --k-rows and --k-columns.")
        if classes is not None:
            scores["one_nn_error"] = one_nn_error(left, classes, random_state=seed)
            if words is not None:
                scores["class_word_error"] = class_word_error(
                    truth.matrix, left, right, classes, words=words, random_state=seed
                )
        if store:
            joint.scores |= scores
            joint.save(map_path)
    if as_json:
        print_json(scores)
        return
    top = min(10, truth.matrix.shape[1])
    meanings = {
        "gamma_loss": f"mutual neighbours lost (k_rows={k_rows}, k_columns={k_columns}, ties {ties})",
        "gamma_pairs": "mutual neighbours there are",
        "gamma_ratio": "share lost; 0 is best",
        "mean_rank": f"mean rank of the {top} most related columns; {(top + 1) / 2:g} is best",
        "one_nn_error": f"ten-fold 1-NN error of {label}",
        "class_word_error": f"error of an SVM on the {words} columns closest to each {label}",
    }
    print_table(["score", "value", "meaning"], [(n, _short(v), meanings[n]) for n, v in scores.items()])
    next_step(f"relscape plot {map_path}" + (f" --color {label}" if label else ""))


def _tell_cohort_scores(joint: Map, map_path: Path, as_json: bool) -> None:
    """Print what a map of cohorts scored when it was made or moved."""
    if not joint.scores:
        raise ParameterError(
            f"{map_path} was made without labels, so that there are no cohorts to score it by; give labels."
        )
    if as_json:
        print_json(joint.scores)
        return
    print_scores(joint.scores)
    next_step(f"relscape plot {map_path}")


def _classes(joint: Map, kind: str, label: str) -> AnyArray:
    """Find the field with the classes; one with nearly as many values as things is refused."""
    fields = joint.group(kind).fields
    if label not in fields:
        raise UnknownNameError("field", label, fields, f"kind {kind!r}")
    distinct = len({str(value) for value in fields[label]})
    if 2 * distinct > len(fields[label]):
        raise ParameterError(
            f"--label {label}: {distinct:,} values among {len(fields[label]):,} things are no classes."
        )
    return fields[label]


def _truth(joint: Map, source: Reading) -> Relation:
    """Find the relation to judge by: the files named, or what travels with the map."""
    if not source.files and source.dataset is None:
        if not joint.relations:
            made_from = " ".join(joint.provenance.get("source", {}).get("files", ["FILES"]))
            raise ParameterError(
                f"this map does not carry its relations: name the files it was made from ({made_from}), "
                "or make it with --keep-relations."
            )
        return next(iter(joint.relations.values()))
    data = source.filled_from(joint.provenance.get("source", {})).read()
    relation = data.relation()
    first, last = joint.groups[0], joint.groups[-1]
    if {relation.rows, relation.columns} <= set(joint.groups):
        first, last = relation.rows, relation.columns
    rows = match(joint.group(first).ids, data.entities[relation.rows].ids)
    columns = match(joint.group(last).ids, data.entities[relation.columns].ids)
    if (rows < 0).any() or (columns < 0).any():
        raise ParameterError(
            f"{int((rows < 0).sum() + (columns < 0).sum())} things of the map are not in the files; "
            "name the files it was made from."
        )
    matrix = relation.matrix[rows][:, columns]
    return Relation(relation.name, first, last, matrix)
