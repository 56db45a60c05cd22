"""``relscape clusters``: which things of all kinds lie together on a map."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from relscape.cli.console import next_step, print_json, say, telling_warnings
from relscape.maps import Map

__all__ = ["clusters"]


def clusters(
    map_path: Annotated[Path, typer.Argument(metavar="MAP", help="Directory of a map.")],
    k: Annotated[int, typer.Option("--k", "-k", help="How many clusters.")] = 5,
    top: Annotated[int, typer.Option(help="How many of each kind to name, nearest the centre first.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the clustering.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result for machines.")] = False,
) -> None:
    """Divide all things of a map, of all kinds together, into clusters, and tell what each holds."""
    from relscape.models.clustering import cluster_map

    with telling_warnings():
        joint = Map.load(map_path)
        found = cluster_map(joint, k, random_state=seed)
        summary = found.summary(top)
    if as_json:
        told = [
            {
                "name": cluster.name,
                "sizes": cluster.sizes,
                "nearest": {kind: [n._asdict() for n in near] for kind, near in cluster.nearest.items()},
            }
            for cluster in summary
        ]
        members = {
            kind: dict(zip(joint.group(kind).ids.tolist(), found.names[labels].tolist(), strict=True))
            for kind, labels in found.labels.items()
        }
        print_json({"clusters": told, "members": members})
        return
    say(str(summary))
    kind, near = next((kind, near) for kind, near in summary[0].nearest.items() if near)
    next_step(f"relscape neighbors {map_path} '{kind}:{near[0].id}'")
