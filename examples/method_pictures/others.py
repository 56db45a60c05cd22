"""Pictures of methods for samples in groups, for several tables, for facts and for features."""

from __future__ import annotations

from typing import Any

import numpy as np
from drawing import by_class, named, panels, plain, written
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import relscape as rs
from relscape.plot.palette import CLASS_COLORS, KIND_COLORS, LIGHT

BLUE, ORANGE, GREEN = KIND_COLORS[:3]


def _digits() -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


def cova() -> None:
    """Draw digits by t-SNE, by COVA with like digits side by side, and by a plan: round a clock."""
    X, y = _digits()
    angle = np.pi / 2 - 2 * np.pi * np.arange(10) / 10
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    figure, axes = panels(4, 3.3)
    by_class(axes[0], rs.TSNE(random_state=0).fit(X).embedding_, y, "t-SNE: groups lie anywhere")
    for panel, model, title in (
        (axes[1], rs.COVA("E2", random_state=0), "COVA-E2: like digits side by side"),
        (axes[2], rs.COVA("E2", prototypes=ring, scale=15.0, random_state=0), "COVA-E2: by plan, a clock"),
        (axes[3], rs.COVA("E1", prototypes=ring, random_state=0), "COVA-E1: the same plan, at once"),
    ):
        fitted = model.fit(X, y)
        by_class(panel, fitted.embedding_, y, title, names=False)
        for digit, place in enumerate(fitted.prototypes_):
            panel.scatter(*place, s=130, marker="*", color=CLASS_COLORS[digit], edgecolor=LIGHT.ink, zorder=4)
            named(panel, place, str(digit), size=9.0, weight="bold", offset=(0, 10))
    written(figure, "cova")


def neighbour_embedding() -> None:
    """Draw digits by SNE, t-SNE and supervised t-SNE."""
    X, y = _digits()
    figure, axes = panels(3, 3.3)
    for panel, model, title in (
        (axes[0], rs.SNE(random_state=0), "SNE"),
        (axes[1], rs.TSNE(random_state=0), "t-SNE"),
        (axes[2], rs.SupervisedTSNE(random_state=0), "supervised t-SNE"),
    ):
        by_class(panel, model.fit(X, y).embedding_, y, title)
    written(figure, "neighbour_embedding")


def knowledge_graphs() -> None:
    """Draw facts of a grid and of a clock: relations that are steps, and one that is a turn."""
    figure, (steps, turn) = panels(2, 3.7, (1.3, 1.3))
    wide, high = 6, 4
    facts = [(f"{i},{j}", "east", f"{i + 1},{j}") for i in range(wide - 1) for j in range(high)]
    facts += [(f"{i},{j}", "north", f"{i},{j + 1}") for i in range(wide) for j in range(high - 1)]
    grid = rs.KnowledgeGraph(facts)
    vectors = _trained("TransE", 20, grid, 0, margin=1.0, n_batches=2, n_epochs=600).params_["entities"]
    _arrows(steps, grid, PCA(2).fit_transform(vectors), {"east": BLUE, "north": ORANGE})
    plain(steps, "TransE, 20 dimensions by PCA: a relation is a step")
    hours = [str(hour) for hour in range(1, 13)]
    clock = rs.KnowledgeGraph([(hours[i], "an hour later", hours[(i + 1) % 12]) for i in range(12)])
    tries = [_trained("RotatE", 1, clock, seed, margin=2.0, n_batches=1, n_epochs=1000) for seed in range(12)]
    best = min(tries, key=lambda model: model.energy(clock.train).mean())
    _arrows(turn, clock, best.params_["entities"], {"an hour later": GREEN})
    plain(turn, "RotatE, one complex dimension: a relation is a turn")
    written(figure, "knowledge_graphs")


def _trained(model: str, k: int, graph: Any, seed: int, **settings: Any) -> Any:
    return rs.KGEmbedding(
        model,
        k,
        norm="l2",
        learning_rate=0.05,
        negatives=8,
        options={"entity_rule": "free"},
        random_state=seed,
        **settings,
    ).fit(graph)


def _arrows(panel: Any, graph: Any, places: Any, colors: dict[str, str]) -> None:
    """Draw entities by name and an arrow for every fact."""
    for head, relation, tail in graph.train:
        color = colors[graph.relations[relation]]
        panel.annotate(
            "",
            places[tail],
            places[head],
            arrowprops={"arrowstyle": "-|>", "color": color, "shrinkA": 6, "shrinkB": 6, "lw": 1.1},
        )
    panel.scatter(*places.T, s=14, color=LIGHT.ink, zorder=3)
    for name, place in zip(graph.entities, places, strict=True):
        named(panel, place, name, size=7.5, offset=(0, 7))
    for name, color in colors.items():
        panel.plot([], [], color=color, label=name)
    panel.margins(0.12)
    panel.legend(fontsize=8, frameon=False, loc="best")


def projection() -> None:
    """Draw photographs by noisy features and tags by name: before, and guided by two thirds of the pairs."""
    rng = np.random.default_rng(0)
    warmth, light = rng.uniform(-1, 1, size=(2, 240))
    features = np.column_stack([warmth, light, rng.normal(scale=1.2, size=(240, 8))])
    features = features @ np.linalg.qr(rng.normal(size=(10, 10)))[0]
    tags = ["cold night", "cold day", "warm night", "warm day"]
    said = 2 * (warmth > 0).astype(int) + (light > 0)
    told = np.arange(240) < 160
    guidance = rs.Guidance()
    for photo in np.flatnonzero(told):
        guidance.similar("photo", int(photo), "tag", int(said[photo]))
    model = rs.HeterogeneousProjection(2).fit({"photo": features, "tag": None}, guidance)
    photos, places = model.embeddings_["photo"], model.embeddings_["tag"]
    right = (np.linalg.norm(photos[:, None] - places, axis=2).argmin(axis=1) == said)[~told].mean()
    alone = PCA(2).fit_transform(features)
    figure, (before, old, new) = panels(3, 3.4, (1.1, 1.1, 1.1))
    by_class(before, alone, said, "photographs by features alone (PCA)", names=False)
    by_class(old, photos[told], said[told], "160 photographs whose tag was told", names=False)
    title = f"80 not told of: nearest tag right for {right:.0%}"
    by_class(new, photos[~told], said[~told], title, names=False)
    for panel in (old, new):
        for tag, place in enumerate(places):
            panel.scatter(*place, s=60, color=CLASS_COLORS[tag], marker="s", edgecolor=LIGHT.ink, zorder=4)
            named(panel, place, tags[tag], offset=(0, 11), weight="bold")
    written(figure, "projection")


def background() -> None:
    """Draw a rolled sheet: seen from the side, and by three methods of scikit-learn."""
    from sklearn.manifold import LocallyLinearEmbedding, SpectralEmbedding

    roll = rs.datasets.make_cohorts("swiss_roll", 700)
    figure, axes = panels(4, 3.0)
    for panel, places, title in (
        (axes[0], roll.points[:, [0, 2]], "the roll, seen from its end"),
        (axes[1], PCA(2).fit_transform(roll.points), "PCA"),
        (
            axes[2],
            SpectralEmbedding(2, n_neighbors=12, random_state=0).fit_transform(roll.points),
            "Laplacian eigenmaps",
        ),
        (
            axes[3],
            LocallyLinearEmbedding(n_neighbors=12, random_state=0).fit_transform(roll.points),
            "locally linear embedding",
        ),
    ):
        by_class(panel, places, roll.labels, title, names=False)
        panel.set_aspect("auto")
    written(figure, "background")


PICTURES = {
    made.__name__: made for made in (cova, neighbour_embedding, knowledge_graphs, projection, background)
}
