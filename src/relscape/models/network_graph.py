"""A document network as a networkx graph, with places and suggested links, for the tools of that world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from relscape.errors import ParameterError
from relscape.models.checks import check_integer

if TYPE_CHECKING:
    from relscape.models.network_base import NetworkModel

__all__ = ["network_graph"]


def network_graph(model: NetworkModel, suggestions: int = 0) -> Any:
    """Give a fitted network as a ``networkx.DiGraph``.

    Parameters
    ----------
    model : NetworkModel
        A fitted model.
    suggestions : int
        How many of the likeliest links that are not there to add for every document.

    Returns
    -------
    networkx.DiGraph
        A node a document, by id, with its label, its fields, its place (z0, z1, …) and where a picture has it
        (x, y). Edges go from the linking document to the linked one; those suggested have ``suggested`` True,
        and a score and, where the model has one, a probability. All are plain values, as GraphML wants them.
    """
    try:
        import networkx
    except ImportError:
        raise ParameterError("a graph for networkx needs networkx: pip install networkx.") from None
    check_integer("suggestions", suggestions, 0)
    joint = model.to_map(relations=False)
    group = joint.group(joint.groups[0])
    graph = networkx.DiGraph(model=joint.model, direction=model.direction)
    for at, name in enumerate(group.ids.tolist()):
        told = {field: _plain(values[at]) for field, values in group.fields.items()}
        told |= {
            "label": str(group.shown[at]),
            "x": float(group.drawn[at, 0]),
            "y": float(group.drawn[at, 1]),
        }
        told |= {f"z{axis}": float(value) for axis, value in enumerate(group.coordinates[at])}
        graph.add_nodes_from([(name, {key: value for key, value in told.items() if value is not None})])
    graph.add_edges_from((str(i), str(j)) for i, j in group.ids[model.links_])
    networkx.set_edge_attributes(graph, False, "suggested")
    for name in group.ids.tolist() if suggestions else ():
        for link in model.predict_links(name, suggestions):
            ends = (name, str(link.id)) if model.direction == "out" else (str(link.id), name)
            chance = {} if link.probability is None else {"probability": link.probability}
            graph.add_edge(*ends, suggested=True, score=link.score, **chance)
    return graph


def _plain(value: Any) -> Any:
    """Give a field as a value that every format of graphs can hold; None where there is nothing."""
    if value is None or value != value:
        return None
    return value.item() if isinstance(value, np.generic) else value
