"""The experiments on data alone: how large the published sets are, and facts that are told twice in them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from relscape import progress
from relscape.data.fact_numbers import contained
from relscape.data.triple_statistics import PARTITIONS, partition
from relscape.data.triples import SPLITS, KnowledgeGraph
from relscape.project.fitting import Placement
from relscape.project.knowledge import graph_of
from relscape.project.network_runs import Network, network_of
from relscape.project.outcome import Findings

__all__ = ["COUNTED", "PROCEDURES"]

Settings = Mapping[str, Any]
COUNTED = "counted"  # stands where the name of a method does
_TRIPLES = {"train": "training triples", "valid": "validation triples", "test": "test triples"}
_GRAPH = ("relations", "entities", *_TRIPLES.values())
_NETWORK = ("documents", "links", "words")
_TWICE = ("triples", "told reversed")


def graphs(settings: Settings) -> Findings:
    """Count entities, relations and triples of knowledge graphs, and look up facts in both directions.

    ``graphs`` in the settings are tables as :func:`relscape.project.knowledge.graph_of` takes them; one may
    have ``examples``: tables with a ``name``, a ``fact`` (head, relation, tail) and the relation
    ``reversed`` that leads from the tail to the head. Told of an example are the splits that its two facts
    are in and, for both of its relations, how many triples there are and how many of these the other
    relation tells reversed.
    """
    tables = {
        "Sizes (table 4.3)": _GRAPH,
        "Test triples by what training knows reversed (as in table 4.6)": PARTITIONS,
        "Relations that lead back (table 4.2)": _TWICE,
    }
    findings = Findings(("set",), tuple(name for names in tables.values() for name in names), tables=tables)
    with progress.task("counting triples", len(settings["graphs"])) as task:
        for where in settings["graphs"]:
            started = time.perf_counter(), time.process_time()
            graph = findings.loaded(partial(graph_of, where))
            if graph is not None:
                place = {"set": where["set"]}
                findings.add(place, _counted(COUNTED, started), _graph_sizes(graph))
                for example in where.get("examples", ()):
                    _look_up(findings, place, graph, example)
            task.advance()
    return findings


def networks(settings: Settings) -> Findings:
    """Count documents, links and words of the ``networks`` in the settings."""
    findings = Findings(("set",), _NETWORK, tables={"Sizes (table 5.1)": _NETWORK})
    with progress.task("counting links", len(settings["networks"])) as task:
        for name in settings["networks"]:
            started = time.perf_counter(), time.process_time()
            network = findings.loaded(partial(network_of, name))
            if network is not None:
                findings.add({"set": name}, _counted(COUNTED, started), _network_sizes(network))
            task.advance()
    return findings


PROCEDURES: Mapping[str, Callable[[Settings], Findings]] = {
    "graph-sizes": graphs,
    "network-sizes": networks,
}


def _counted(name: str, started: tuple[float, float], **chosen: Any) -> Placement:
    seconds, cpu_seconds = time.perf_counter() - started[0], time.process_time() - started[1]
    return Placement(name, seconds, cpu_seconds, chosen=chosen)


def _graph_sizes(graph: KnowledgeGraph) -> dict[str, int]:
    told = {"relations": len(graph.relations), "entities": len(graph.entities)}
    told |= {name: len(getattr(graph, split)) for split, name in _TRIPLES.items()}
    known = partition(graph.test, graph.train, graph.n_entities, graph.n_relations)
    return told | {part: int((known == part).sum()) for part in PARTITIONS}


def _network_sizes(network: Network) -> dict[str, int]:
    """Count; a word is one that some document has, and no document links to itself in these sets."""
    words = np.unique(network.contents.tocoo().coords[1])
    return {"documents": len(network.ids), "links": len(network.pairs), "words": len(words)}


def _look_up(findings: Findings, place: Mapping[str, str], graph: KnowledgeGraph, example: Settings) -> None:
    """Tell of one example where its facts are, and of its relations how many facts they tell twice."""
    started = time.perf_counter(), time.process_time()
    head, relation, tail = example["fact"]
    facts = ((head, relation, tail), (tail, example["reversed"], head))
    found = [_splits_with(graph, fact) for fact in facts]
    told = [f"{', '.join(f)} ({' and '.join(at) or 'missing'})" for f, at in zip(facts, found, strict=True)]
    findings.notes.append(f"{place['set']}, {example['name']}: {'; reversed: '.join(told)}")
    there, back = (graph.relation(fact[1]) for fact in facts)
    for suffix, pair, fact, at in zip(
        ("", ", back"), ((there, back), (back, there)), facts, found, strict=True
    ):
        placement = _counted(f"{example['name']}{suffix}", started, fact=list(fact), found=at)
        findings.add(dict(place), placement, dict(zip(_TWICE, _told_twice(graph, *pair), strict=True)))


def _splits_with(graph: KnowledgeGraph, fact: Sequence[str]) -> list[str]:
    """Name the splits that hold a fact."""
    head, relation, tail = fact
    wanted = np.array([graph.entity(head), graph.relation(relation), graph.entity(tail)])
    return [split for split in SPLITS if (getattr(graph, split) == wanted).all(axis=1).any()]


def _told_twice(graph: KnowledgeGraph, there: int, back: int) -> tuple[int, int]:
    """Count the triples of a relation, and those that another one tells from tail to head."""
    triples = graph.triples()
    own, others = (triples[triples[:, 1] == relation] for relation in (there, back))
    keys = own[:, 0] * graph.n_entities + own[:, 2]
    turned = others[:, 2] * graph.n_entities + others[:, 0]
    return len(own), int(contained(keys, turned).sum())
