"""``relscape kg predict``, ``suspicious`` and ``export``: what a trained knowledge graph can tell."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from relscape.cli.console import next_step, print_json, print_table, say, telling_warnings
from relscape.cli.kg_source import From, Json, load_model
from relscape.errors import ParameterError

__all__ = ["export", "predict", "suspicious"]

Top = Annotated[int, typer.Option("--top", "-n", help="How many answers.")]
_HERE = Path("kg")


def predict(
    head: Annotated[str | None, typer.Argument(help="An entity, or '?'.", show_default=False)] = None,
    relation: Annotated[str | None, typer.Argument(help="A relation, or '?'.", show_default=False)] = None,
    tail: Annotated[str, typer.Argument(help="An entity, or '?'.")] = "?",
    file: Annotated[
        Path | None, typer.Option("--file", help="A file of questions, one a line, '?' for what is wanted.")
    ] = None,
    source: From = _HERE,
    top: Top = 10,
    known: Annotated[bool, typer.Option("--known", help="Show known facts among the answers.")] = False,
    exclude_self_loops: Annotated[
        bool, typer.Option(help="No entity as its own answer where training has no such fact.")
    ] = True,
    why: Annotated[bool, typer.Option("--why", help="Explain the first answer by known facts.")] = False,
    as_json: Json = False,
) -> None:
    """Answer questions: HEAD RELATION gives tails, '?' RELATION TAIL heads, HEAD '?' TAIL relations.

    Of whole triples, HEAD RELATION TAIL, it tells how likely they are.
    """
    with telling_warnings():
        questions = _questions(head, relation, tail, file)
        model = load_model(source)
        if all("?" not in question for question in questions):
            _tell_scores(model, questions, source, as_json)
            return
        answers = model.predict(questions, top, not known, exclude_self_loops)
        reasons = (
            [_reason(model, q, found) for q, found in zip(questions, answers, strict=True)] if why else []
        )
    if as_json:
        told: list[dict[str, Any]] = [
            {"question": list(question), "answers": [answer._asdict() for answer in found]}
            for question, found in zip(questions, answers, strict=True)
        ]
        for entry, reason in zip(told, reasons, strict=False):
            entry["why"] = reason
        print_json({"model": str(source), "questions": told})
        return
    for number, (question, found) in enumerate(zip(questions, answers, strict=True)):
        say(" ".join(question))
        rows = [
            (_shown(a), f"{a.energy:.4g}", f"{a.probability:.1%}", "known" if a.known else "") for a in found
        ]
        print_table(["answer", "energy", "probability", ""], rows)
        if reasons and reasons[number]:
            _tell_reason(reasons[number])
    first = questions[0]
    if not why:
        next_step(f"relscape kg predict {' '.join(map(quote, first))} --why --from {source}")
    else:
        next_step(f"relscape kg suspicious --from {source}")


def _questions(head: str | None, relation: str | None, tail: str, file: Path | None) -> list[tuple[str, ...]]:
    if file is not None:
        from relscape.sources.triples import read_facts

        if head is not None:
            raise ParameterError(f"--file {file} and {head!r}: give questions by a file or as arguments.")
        facts = read_facts(file)
        return list(zip(*(map(str, column.to_pylist()) for column in facts.columns), strict=True))
    if head is None or relation is None:
        raise ParameterError("name a head and a relation, '?' for what you want to know, or give --file.")
    return [(head, relation, tail)]


def _tell_scores(model: Any, triples: list[tuple[str, ...]], source: Path, as_json: bool) -> None:
    """Tell how likely whole triples are."""
    scores = [*zip(triples, model.energy(triples), model.probability(triples), strict=True)]
    if as_json:
        told = [
            {"triple": list(triple), "energy": float(energy), "probability": float(chance)}
            for triple, energy, chance in scores
        ]
        print_json({"model": str(source), "triples": told})
        return
    rows = [(" ".join(triple), f"{energy:.4g}", f"{chance:.1%}") for triple, energy, chance in scores]
    print_table(["triple", "energy", "probability"], rows)
    head, relation, _ = triples[0]
    next_step(f"relscape kg predict {quote(head)} {quote(relation)} --known --why --from {source}")


def _shown(answer: Any) -> str:
    return answer.name if answer.label == answer.name else f"{answer.label} ({answer.name})"


def _reason(model: Any, question: tuple[str, ...], found: list[Any]) -> dict[str, Any]:
    """Explain the first answer to a question, as plain values."""
    if not found:
        return {}
    triple = tuple(found[0].name if part == "?" else part for part in question)
    explained = model.explain(*triple)
    return {
        "triple": [explained.head, explained.relation, explained.tail],
        "alike": [fact._asdict() for fact in explained.alike],
        "between": [list(fact) for fact in explained.between],
    }


def _tell_reason(reason: dict[str, Any]) -> None:
    say(f"{' '.join(reason['triple'])}: most like these known facts")
    rows = [(f"{a['head']} {a['relation']} {a['tail']}", f"{a['distance']:.3f}") for a in reason["alike"]]
    print_table(["fact", "distance"], rows)
    for fact in reason["between"]:
        say(f"known between the two: {' '.join(fact)}")


def suspicious(
    source: From = _HERE,
    top: Top = 20,
    relation: Annotated[
        list[str] | None, typer.Option(help="Look only at these relations.", show_default="all")
    ] = None,
    split: Annotated[str, typer.Option(help="train, valid or test.")] = "train",
    as_json: Json = False,
) -> None:
    """List the known facts that look wrong: those the model finds least likely."""
    with telling_warnings():
        found = load_model(source).suspicious(top=top, splits=split, relations=relation)
    if as_json:
        print_json({"model": str(source), "facts": [fact._asdict() for fact in found]})
        return
    rows = [
        (f.head, f.relation, f.tail, f"{f.head_rank:,.0f}", f"{f.tail_rank:,.0f}", f"{f.probability:.1%}")
        for f in found
    ]
    print_table(["head", "relation", "tail", "head rank", "tail rank", "probability"], rows)
    if found:
        first = found[0]
        next_step(
            f"relscape kg predict {quote(first.head)} {quote(first.relation)} --known --why --from {source}"
        )


def export(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="A directory for a map, or a file: .parquet, .csv, .vec, ..."),
    ],
    source: From = _HERE,
    as_json: Json = False,
) -> None:
    """Write the vectors of entities and relations as a map, or for other programs, as ``export`` does."""
    from relscape.maps.export import format_for

    if output.suffix:
        format_for(output)
    with telling_warnings():
        joint = load_model(source).to_map()
        if output.suffix:
            joint.export(output)
        else:
            joint.save(output)
    sizes = {kind: len(joint.group(kind)) for kind in joint.groups}
    if as_json:
        print_json({"written": str(output), "sizes": sizes, "dimensions": joint.n_components})
        return
    told = " and ".join(f"{size:,} × {kind}" for kind, size in sizes.items())
    say(f"{told} vectors of {joint.n_components} numbers: {output}")
    if not output.suffix:
        next_step(f"relscape plot {output}")
