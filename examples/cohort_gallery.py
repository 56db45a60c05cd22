"""The same samples by t-SNE, UMAP, supervised UMAP and COVA, and which cohorts each keeps as neighbours.

Makes the gallery's pictures of cohorts. Two cohorts are neighbours in the data when one is among the two
that the other's samples are most linked to in the graph of nearest neighbours; a solid line joins those
that are neighbours on the map too, by their mean places, and a dashed red one those that are not. All four
maps are judged by the same links and the same neighbours in the features. COVA and supervised UMAP know the
cohorts, and COVA's prototypes are made from these links; t-SNE and UMAP know nothing but the features.

UMAP is not part of relscape: pip install umap-learn (or relscape[bench]).

    python examples/cohort_gallery.py                                     handwritten digits
    RELSCAPE_DATA=data python examples/cohort_gallery.py newsgroups       3,000 messages of 20 newsgroups
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import relscape as rs
from relscape.data.cohorts import read_cohorts
from relscape.matrix.cohorts import cohort_relation
from relscape.plot import save_picture
from relscape.plot.palette import CLASS_COLORS, LIGHT
from relscape.scores import cohort_links, neighbor_preservation_chance

KEPT, LOST = "#3A4148", "#D62728"
# Newsgroups by family, so that one sees which stay together, under names that fit into a picture.
FAMILIES = {
    "Blues": {
        "comp.graphics": "graphics",
        "comp.os.ms-windows.misc": "ms-windows",
        "comp.sys.ibm.pc.hardware": "pc",
        "comp.sys.mac.hardware": "mac",
        "comp.windows.x": "x-windows",
    },
    "Greens": {
        "rec.autos": "autos",
        "rec.motorcycles": "motorcycles",
        "rec.sport.baseball": "baseball",
        "rec.sport.hockey": "hockey",
    },
    "Oranges": {
        "sci.crypt": "crypt",
        "sci.electronics": "electronics",
        "sci.med": "med",
        "sci.space": "space",
    },
    "Purples": {
        "alt.atheism": "atheism",
        "soc.religion.christian": "christian",
        "talk.religion.misc": "religion",
    },
    "Reds": {
        "talk.politics.guns": "guns",
        "talk.politics.mideast": "mideast",
        "talk.politics.misc": "politics",
    },
    "Greys": {"misc.forsale": "forsale"},
}


def digits() -> tuple[Any, Any]:
    """Give 1,797 handwritten digits of 8 × 8 pixels, which come with scikit-learn."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return found.data, found.target.astype(str)


def newsgroups() -> tuple[Any, Any]:
    """Give 150 messages of each newsgroup: tf-idf of their words, its 50 leading directions, length 1."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer

    data = rs.datasets.load_newsgroups20()
    counts, groups = data.matrix(), data.entities["doc"].fields["newsgroup"].astype(str)
    documents = np.bincount(counts.indices, minlength=counts.shape[1])
    counts = counts[:, np.flatnonzero((documents >= 20) & (documents <= 0.3 * counts.shape[0]))]
    long_enough = np.diff(counts.indptr) >= 20
    rng = np.random.default_rng(0)
    chosen = [
        rng.choice(np.flatnonzero(long_enough & (groups == g)), 150, replace=False) for g in np.unique(groups)
    ]
    at = np.sort(np.concatenate(chosen))
    weighted = TfidfTransformer(sublinear_tf=True).fit_transform(counts[at])
    X = TruncatedSVD(50, random_state=0).fit_transform(weighted)
    short = {group: name for family in FAMILIES.values() for group, name in family.items()}
    return X / np.linalg.norm(X, axis=1, keepdims=True), np.array([short[group] for group in groups[at]])


def maps(X: Any, y: Any) -> dict[str, Callable[[], Any]]:
    """Say how the maps are made, the four to draw first; UMAP has as many neighbours as the others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parts of it that need another library
        from umap import UMAP

    codes = read_cohorts(y, len(y)).codes

    def cova(variant: str, alpha: float) -> Any:
        by_links = rs.TSNEPrototypes(dissimilarity="density")
        return rs.COVA(variant, alpha=alpha, prototypes=by_links, random_state=0).fit_transform(X, y)

    def umap(target: Any = None) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return UMAP(n_neighbors=30, random_state=0, n_jobs=1).fit_transform(X, target)

    return {
        "t-SNE": lambda: rs.TSNE(random_state=0).fit_transform(X),
        "UMAP": umap,
        "supervised UMAP": lambda: umap(codes),
        "COVA-E2": lambda: cova("E2", 0.6),
        "COVA-E2, α = 0.3": lambda: cova("E2", 0.3),
        "COVA-E1": lambda: cova("E1", 0.6),
        "supervised t-SNE": lambda: rs.SupervisedTSNE(random_state=0).fit_transform(X, y),
    }


def compared(name: str, X: Any, y: Any) -> Any:
    """Draw four maps side by side, and print what all of them score."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    cohorts = read_cohorts(y, len(y))
    c, chance = len(cohorts.names), neighbor_preservation_chance(y)
    weights = rs.GaussianAffinity().fit(X).weights
    wanted = cohort_relation("density", codes=cohorts.codes, c=c, weights=weights)
    other = cohort_relation("centres", X=X, codes=cohorts.codes, c=c)
    print(f"{name}: {len(y):,} samples, {c} cohorts; a map without structure has S_n {chance:.3f}")
    figure = Figure(figsize=(12.0, 10.4), facecolor=LIGHT.paper)
    FigureCanvasAgg(figure)
    panels = iter(figure.subplots(2, 2, gridspec_kw={"hspace": 0.2, "wspace": 0.04}).ravel())
    figure.subplots_adjust(left=0.02, right=0.98, bottom=0.085, top=0.955)
    for title, make in maps(X, y).items():
        started = time.process_time()
        Z = np.asarray(make(), dtype=np.float64)
        seconds = time.process_time() - started
        links = cohort_links(Z, y, wanted.matrix, similarity=True)
        local, apart = rs.neighbor_preservation(X, Z, y, random_state=0), rs.cohort_separation(Z, y)
        total = len(links.kept) + len(links.lost)
        print(
            f"  {title:17} S_n {local:.3f}  S_s {apart:.3f}  S_c^(r) {links.share:.3f} "
            f"({len(links.kept)} of {total}), by centres "
            f"{rs.cohort_neighbors(Z, y, other.matrix, similarity=False):.3f}  {seconds:.1f} s"
        )
        axes = next(panels, None)
        if axes is not None:
            drawn(axes, Z, cohorts, links)
            kept = f"cohort links {len(links.kept)} of {total} ({links.share:.0%})"
            told = f"{kept}   ·   neighbours {local:.0%}   ·   separation {apart:.0%}"
            axes.set_title(title, fontsize=15, weight="bold", color=LIGHT.ink, pad=7)
            axes.set_xlabel(told, fontsize=11.5, color=LIGHT.ink, labelpad=7)
    foot = "lines join cohorts that are neighbours in the data: kept on the map (dark) or lost (dashed red)"
    foot += f"   ·   neighbours: S_n, {chance:.0%} by chance   ·   separation: S_s"
    figure.text(0.5, 0.018, foot, ha="center", fontsize=10, color=LIGHT.muted)
    return figure


def drawn(axes: Any, Z: Any, cohorts: Any, links: Any) -> None:
    """Draw one map: samples in their cohorts' colours, names at the mean places, links between them."""
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke
    from sklearn.decomposition import PCA

    Z = PCA(2).fit_transform(Z)  # lengthwise, to make use of the paper
    colors = cohort_colors([str(name) for name in cohorts.names])
    centres = np.vstack([Z[cohorts.codes == j].mean(axis=0) for j in range(len(colors))])
    order = np.random.default_rng(0).permutation(len(Z))
    pale = 0.55 * colors + 0.45  # opaque, which keeps the file small
    axes.scatter(*Z[order].T, s=9, c=pale[cohorts.codes[order]], linewidths=0, zorder=2)
    for pairs, color, style, width in (
        (links.kept, KEPT, "solid", 1.9),
        (links.lost, LOST, (0, (4, 2.2)), 1.5),
    ):
        lines = [centres[pair] for pair in pairs]
        joined = LineCollection(lines, colors=color, linestyles=[style], linewidths=width, zorder=3)
        axes.add_collection(joined, autolim=False)
    axes.set(xticks=[], yticks=[])
    axes.set_aspect("equal", adjustable="datalim")
    for spine in axes.spines.values():
        spine.set_color(LIGHT.faint)
    halo = [withStroke(linewidth=3.0, foreground=LIGHT.paper)]
    size = 15 if max(len(str(name)) for name in cohorts.names) < 3 else 9.5
    names = [
        axes.text(
            *centre, str(name), color=0.75 * color, fontsize=size, weight="bold", ha="center", va="center",
            zorder=4, path_effects=halo,
        )
        for centre, name, color in zip(centres, cohorts.names, colors, strict=True)
    ]  # fmt: skip
    part(axes, names)


def cohort_colors(names: Sequence[str]) -> Any:
    """Give newsgroups the shades of their family, and anything else colours far from each other."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    shades = {}
    for hue, family in FAMILIES.items():
        for name, shade in zip(family.values(), np.linspace(0.5, 0.9, len(family)), strict=True):
            shades[name] = colormaps[hue](shade)[:3]
    return np.array(
        [shades.get(name, to_rgb(CLASS_COLORS[j % len(CLASS_COLORS)])) for j, name in enumerate(names)]
    )


def part(axes: Any, names: Sequence[Any], rounds: int = 200) -> None:
    """Move names up and down until none covers another."""
    axes.figure.canvas.draw()
    boxes = [name.get_window_extent() for name in names]
    widths, heights = (np.array([getattr(box, side) for box in boxes]) for side in ("width", "height"))
    middles = np.array([[(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2] for box in boxes])
    for _ in range(rounds):
        for i, j in combinations(range(len(names)), 2):
            beside = abs(middles[i, 0] - middles[j, 0]) < (widths[i] + widths[j]) / 2
            gap = abs(middles[i, 1] - middles[j, 1]) - (heights[i] + heights[j]) / 2
            if beside and gap < 0:
                up = 1.0 if middles[i, 1] >= middles[j, 1] else -1.0
                middles[[i, j], 1] += np.array([-gap / 2, gap / 2]) * up
    for name, place in zip(names, axes.transData.inverted().transform(middles), strict=True):
        name.set_position(place)


SETS = {"digits": digits, "newsgroups": newsgroups}


def main(names: Sequence[str] = ("digits",)) -> None:
    if find_spec("umap") is None:
        print("This compares with UMAP, which is not installed: pip install umap-learn")
        return
    for name in names:
        picture = Path(f"cohorts_{name}.png")
        save_picture(compared(name, *SETS[name]()), picture, dpi=100, colors=256)
        print(f"saved {picture}")


if __name__ == "__main__":
    main(sys.argv[1:] or ("digits",))
