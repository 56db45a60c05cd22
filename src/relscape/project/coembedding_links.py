"""The experiments on co-embedding of citation networks: papers of two kinds, related by steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from relscape import datasets, progress
from relscape.maps.align import procrustes
from relscape.matrix.geodesic import link_relation
from relscape.project import pictures
from relscape.project.coembedding_tools import (
    LOSS,
    NEAREST,
    RANK,
    Settings,
    count_of,
    lost,
    options_of,
)
from relscape.project.fitting import Placement, coembeddings, placed
from relscape.project.outcome import Findings, Record
from relscape.protocols import FloatArray, TextArray
from relscape.scores import mean_rank, one_nn_errors

__all__ = ["PROCEDURES"]

_DRAWN = ("mutual", "ca", "code", "acas", "mkpe")  # the methods whose maps are published
_LOADERS = {"cora": datasets.load_cora, "citeseer": datasets.load_citeseer}


class _Network(NamedTuple):
    """A network's relation, and the classes of the papers that are its rows and its columns."""

    relation: FloatArray
    row_y: TextArray
    column_y: TextArray


def links(settings: Settings) -> Findings:
    """Map citation networks through steps between papers; maps with two axes are drawn by class."""
    findings = Findings(("set", "axes"), (RANK, NEAREST, LOSS))
    methods, dimensions = coembeddings(settings.get("methods")), settings["dimensions"]
    maps = {}
    for name in settings["sets"]:
        network = _network(findings, name, settings)
        if network is None:
            continue
        drawn = {}
        with progress.task(f"mapping {name}", len(methods) * len(dimensions)) as task:
            for k in dimensions:
                for method in methods:
                    placement = placed(method, network.relation, k, **options_of(settings, method))
                    findings.add({"set": name, "axes": k}, placement, _scores(network, placement, settings))
                    if k == 2 and method in _DRAWN:
                        drawn[method] = _classified(network, placement)
                    task.advance()
        if drawn:
            maps[f"maps_{name}"] = pictures.two_kind_maps(drawn)
    findings.pictures = {**pictures.curves(findings, "axes", (RANK, NEAREST)), **maps}
    return findings


def neighbourhoods(settings: Settings) -> Findings:
    """Choose the mutual model's parameters on networks by neighbourhoods of several sizes."""
    findings = Findings(("set", "neighbourhood", "axes"), (RANK, NEAREST, LOSS))
    sizes, dimensions = settings["sizes"], settings["dimensions"]
    maps = {}
    for name in settings["sets"]:
        network = _network(findings, name, settings)
        if network is None:
            continue
        drawn: dict[str, pictures.TwoKinds] = {}
        with progress.task(f"trying neighbourhoods on {name}", len(sizes) * len(dimensions)) as task:
            for size in sizes:
                k_rows, k_columns = (count_of(size, side) for side in network.relation.shape)
                options = {**options_of(settings, "mutual"), "k_rows": k_rows, "k_columns": k_columns}
                for k in dimensions:
                    placement = placed("mutual", network.relation, k, **options)
                    place = {"set": name, "neighbourhood": size, "axes": k}
                    findings.add(place, placement, _scores(network, placement, settings))
                    if k == 2:
                        drawn[size] = _turned(_classified(network, placement), drawn)
                    task.advance()
        if drawn:
            maps[f"maps_{name}"] = pictures.two_kind_maps(drawn)
    lines = pictures.curves(findings, "axes", (RANK, NEAREST), lines="neighbourhood")
    findings.pictures = {**lines, **maps}
    return findings


PROCEDURES: Mapping[str, Callable[[Settings], Findings]] = {
    "links": links,
    "link-neighbourhoods": neighbourhoods,
}


def _network(findings: Findings, name: str, settings: Settings) -> _Network | None:
    """Deal the papers of a network's largest part to rows and columns, or note that it is missing."""
    data = findings.loaded(_LOADERS[name])
    if data is None:
        return None
    classes = data.entities["doc"].fields["class"]
    made = link_relation(data.matrix("links"), classes, settings["row_share"], settings["random_state"])
    return _Network(made.matrix, classes[made.rows], classes[made.columns])


def _scores(network: _Network, placement: Placement, settings: Settings) -> Record:
    if placement.rows is None or placement.columns is None:
        return {}
    both = placement.rows, placement.columns
    errors = one_nn_errors(*both, network.row_y, network.column_y, settings["random_state"])
    return {
        RANK: mean_rank(network.relation, *both),
        NEAREST: errors.pooled,
        "1-NN error, rows": errors.rows,
        "1-NN error, columns": errors.columns,
        LOSS: lost(network.relation, placement, settings["neighbours"]),
    }


def _classified(network: _Network, placement: Placement) -> pictures.TwoKinds:
    return pictures.TwoKinds(placement.rows, network.row_y, placement.columns, network.column_y)


def _turned(found: pictures.TwoKinds, drawn: Mapping[str, pictures.TwoKinds]) -> pictures.TwoKinds:
    """Turn a map onto the first one, so that they can be compared by eye."""
    first = next(iter(drawn.values()), found)
    if first.rows is None or first.columns is None or found.rows is None or found.columns is None:
        return found
    motion = procrustes(np.vstack([found.rows, found.columns]), np.vstack([first.rows, first.columns]))
    return found._replace(rows=motion(found.rows), columns=motion(found.columns))
