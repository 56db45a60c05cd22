"""Pictures of methods for one relation of two kinds, and for several."""

from __future__ import annotations

from typing import Any

import numpy as np
from drawing import (
    by_class,
    free_names,
    labelled,
    measured,
    named,
    outliers_off,
    panels,
    plain,
    two_kinds,
    written,
)
from matplotlib.figure import Figure
from scipy.sparse import csr_array

import relscape as rs
from relscape.plot.palette import KIND_COLORS, LIGHT
from relscape.scores.neighbourhood import gamma_terms

BLUE, ORANGE = KIND_COLORS[:2]


def correspondence_analysis() -> None:
    """Draw eye and hair colours: the table, and its map."""
    data = rs.datasets.load_caithness()
    eyes, hair = data.entities["eye"].ids, data.entities["hair"].ids
    counts = data.matrix().toarray()
    model = rs.CorrespondenceAnalysis(2).fit(data)
    figure, (table, map_) = panels(2, 3.4, (1.15, 1.6))
    shares = counts / counts.sum(axis=1, keepdims=True)
    table.imshow(shares, cmap="Blues", vmin=0, vmax=0.8)
    for i, j in np.ndindex(*shares.shape):
        table.text(j, i, f"{shares[i, j]:.0%}", ha="center", va="center", fontsize=8, color=LIGHT.ink)
    plain(table, "profiles: hair of children with blue … dark eyes", equal=False)
    table.set_xticks(range(len(hair)), hair, fontsize=8, color=ORANGE)
    table.set_yticks(range(len(eyes)), eyes, fontsize=8, color=BLUE)
    table.tick_params(length=0)
    first, second = 100 * model.inertia_[:2] / model.total_inertia_
    labelled(
        map_,
        {"eyes": (eyes, model.row_embedding_), "hair": (hair, model.column_embedding_)},
        f"their map: {first:.0f} % and {second:.0f} % of the inertia",
    )
    written(figure, "correspondence_analysis")


def bipartite_spectral() -> None:
    """Draw a relation with hidden blocks: as it comes, on the map, and sorted by the first axis."""
    rng = np.random.default_rng(0)
    rows, columns = np.repeat(np.arange(3), [30, 40, 50]), np.repeat(np.arange(3), [20, 30, 40])
    rng.shuffle(rows)
    rng.shuffle(columns)
    chance = np.where(rows[:, None] == columns, 0.25, 0.04)
    relation = (rng.random(chance.shape) < chance).astype(float)
    model = rs.BipartiteSpectral(2).fit(csr_array(relation))
    figure, (given, map_, found) = panels(3)
    by_axis = [np.argsort(side[:, 0]) for side in (model.row_embedding_, model.column_embedding_)]
    for panel, table, title in (
        (given, relation, "a relation of 120 × 90, as it comes"),
        (found, relation[np.ix_(*by_axis)], "the same, in the order of the first axis"),
    ):
        panel.imshow(table, cmap="Greys", aspect="auto", interpolation="nearest")
        plain(panel, title, equal=False)
    for side, blocks, marker in ((model.row_embedding_, rows, "o"), (model.column_embedding_, columns, "^")):
        colors = np.array(KIND_COLORS)[blocks]
        map_.scatter(*side.T, s=12, c=colors, marker=marker, linewidths=0)
    plain(map_, "its map: colours are the true blocks")
    written(figure, "bipartite_spectral")


def _compared(shape: Any, **models: Any) -> Figure:
    """Draw the truth and what models make of the relation, with the share of mutual pairs they lose."""
    figure, axes = panels(1 + len(models), 2.9)
    two_kinds(axes[0], shape.row_points, shape.column_points, "the truth; only exp(−d²) is given")
    for panel, (title, model) in zip(axes[1:], models.items(), strict=True):
        fitted = model.fit(shape.relation)
        rows, columns = fitted.row_embedding_, fitted.column_embedding_
        lost = gamma_terms(shape.relation, rows, columns, k_rows=5, k_columns=5).ratio
        two_kinds(panel, rows, columns, f"{title}: {lost:.0%} of mutual pairs lost")
    return figure


def coembedding() -> None:
    """Draw a ring: two members of the family, and the one that the search finds."""
    shape = rs.datasets.make_shape("ring", 0)
    models = {
        "CA": rs.CorrespondenceAnalysis(2),
        "BGP": rs.BipartiteSpectral(2),
        "searched": rs.CoEmbedding(2, random_state=0),
    }
    written(_compared(shape, **models), "coembedding")


def acas() -> None:
    """Draw circles: three members of the family, given, and the one that is chosen."""
    shape = rs.datasets.make_shape("circles", 0)
    models = {
        "LSI": rs.ACAS(2, p=0, alpha=0.0, beta=1.0),
        "CA": rs.ACAS(2, p=1, alpha=0.5, beta=1.0),
        "auto": rs.ACAS(2, random_state=0),
    }
    written(_compared(shape, **models), "acas")


def mkpe() -> None:
    """Draw a target found again, and the kernel that was fitted."""
    shape = rs.datasets.make_shape("target", 0)
    model = rs.MKPE(2).fit(shape.relation)
    rows, columns = model.row_embedding_, model.column_embedding_
    figure, (truth, map_, kernel) = panels(3)
    two_kinds(truth, shape.row_points, shape.column_points, "the truth; only similarities are given")
    two_kinds(map_, rows, columns, "MKPE; two points lie outside")
    outliers_off(map_, np.vstack([rows, columns]), 0.005)
    distances = np.linalg.norm(rows[:, None] - columns, axis=2)
    some = np.random.default_rng(0).permutation(distances.size)[:3000]
    reach = np.linspace(0, distances.max(), 200)
    kernel.scatter(
        distances.ravel()[some], (shape.relation / shape.relation.max()).ravel()[some], s=2, color=BLUE
    )
    kernel.plot(reach, np.exp(-(reach**2) / model.width_**2), color=ORANGE, lw=1.4)
    measured(kernel, "line: the kernel; dots: the pairs", "distance on the map", "similarity given")
    written(figure, "mkpe")


def latent_semantic_indexing() -> None:
    """Draw modules by LSI and by CA: who is long rules the first axis of LSI."""
    data = rs.datasets.load_stdlib().only("words")
    lengths = np.asarray(data.matrix().sum(axis=1)).ravel()
    figure, axes = panels(3)
    lsi = rs.LatentSemanticIndexing(2).fit(data).row_embedding_
    ca = rs.CorrespondenceAnalysis(2).fit(data).row_embedding_
    axes[0].scatter(*lsi.T, s=9, c=np.log(lengths), cmap="viridis", linewidths=0)
    plain(axes[0], "modules by LSI: colour is their length")
    for panel, places, title in ((axes[1], lsi, "LSI"), (axes[2], ca, "correspondence analysis")):
        panel.scatter(lengths, np.abs(places[:, 0]), s=9, color=BLUE, linewidths=0)
        panel.set(xscale="log", yscale="log")
        measured(panel, f"{title}, first axis", "words of a module, counted", "distance from 0")
    written(figure, "latent_semantic_indexing")


def cfrm() -> None:
    """Draw the smaller kind of a relation lies farther out, for no reason of the data."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(3, size=60), rng.integers(3, size=600)
    relation = rng.poisson(np.where(rows[:, None] == columns, 1.2, 0.15)).astype(float)
    relation[:, relation.sum(axis=0) == 0] = 0.1
    figure, axes = panels(3)
    for panel, model, title in (
        (axes[0], rs.CFRM(3), "CFRM, axes 2 and 3"),
        (axes[2], rs.CorrespondenceAnalysis(2), "correspondence analysis"),
    ):
        fitted = model.fit(relation)
        two_kinds(panel, fitted.row_embedding_[:, -2:], fitted.column_embedding_[:, -2:], title)
    columns_alone = rs.CFRM(3).fit(relation).column_embedding_[:, 1:]
    axes[1].scatter(*columns_alone.T, s=9, c=np.array(KIND_COLORS)[columns], marker="^", linewidths=0)
    plain(axes[1], "its 600 columns alone, by true cluster")
    written(figure, "cfrm")


def cort() -> None:
    """Draw what an axis weighs, and the same relation in two units."""
    shape = rs.datasets.make_shape("2dnormals", 0)
    figure, axes = panels(4, 2.9)
    sigma = np.geomspace(0.01, 100, 200)
    for label, weights, style in (
        ("CORT, √(σ + σ²)", np.sqrt(sigma + sigma**2), "-"),
        ("LSI with β = 1, σ", sigma, "--"),
        ("LSI with β = ½, √σ", np.sqrt(sigma), ":"),
    ):
        axes[0].loglog(sigma, weights, style, label=label, lw=1.3)
    axes[0].legend(fontsize=7, frameon=False)
    measured(axes[0], "weight of an axis", "singular value σ", "weight")
    two_kinds(axes[1], shape.row_points, shape.column_points, "the truth; only exp(−d²) is given")
    for panel, scale, title in (
        (axes[2], 1.0, "CORT of the relation"),
        (axes[3], 1e-3, "of a thousandth of it"),
    ):
        model = rs.CORT(2).fit(scale * shape.relation)
        two_kinds(panel, model.row_embedding_, model.column_embedding_, title)
    written(figure, "cort")


def code() -> None:
    """Draw one module and its strongest words by CA and by CODE; and how all modules fare."""
    data = rs.datasets.load_stdlib().only("words")
    counts, words, modules = data.matrix().tocsr(), data.entities["word"].ids, data.entities["module"].ids
    own = int(np.flatnonzero(modules == "codecs")[0])
    strongest = np.argsort(-counts[[own]].toarray().ravel(), kind="stable")[:10]
    figure, axes = panels(3, 3.9, (1.25, 1.25, 1.1))
    ranks = []
    for panel, model, title in (
        (axes[0], rs.CorrespondenceAnalysis(2), "CA, two axes"),
        (axes[1], rs.CODE(2, ridge=1e-5, n_restarts=1, random_state=0), "CODE in the plane"),
    ):
        fitted = model.fit(data)
        rows, columns = fitted.row_embedding_, fitted.column_embedding_
        ranks.append([rs.mean_rank(counts[[i]], rows[[i]], columns) for i in range(len(modules))])
        panel.scatter(*columns.T, s=3, color=LIGHT.other, marker="^", linewidths=0, alpha=0.6)
        panel.scatter(*rows.T, s=8, color=BLUE, linewidths=0, alpha=0.4)
        panel.scatter(*columns[strongest].T, s=24, color=ORANGE, marker="^", zorder=4)
        panel.scatter(*rows[own], s=150, color=BLUE, marker="*", edgecolor="white", zorder=5)
        plain(panel, f"{title}: codecs and its top words")
        outliers_off(panel, np.vstack([rows, columns]), wide=True)
        points = np.vstack([rows[[own]], columns[strongest]])
        free_names(panel, points, ["codecs", *words[strongest]], [BLUE, *["#8A3B00"] * 10])
    ahead = (np.array(ranks[1]) < np.array(ranks[0])).sum()
    axes[2].scatter(*ranks, s=8, color=BLUE, linewidths=0)
    axes[2].plot([0, 1500], [0, 1500], color=LIGHT.muted, lw=0.8)
    axes[2].set(xlim=(0, 1500), ylim=(0, 1500))
    title = f"place of the ten: CODE ahead for {ahead} of {len(modules)}"
    measured(axes[2], title, "by CA, two axes (0 is nearest)", "by CODE")
    written(figure, "code")


def psd_code() -> None:
    """Draw the path of the smoking table: one optimum for every λ, and the map of the best."""
    data = rs.datasets.load_smoking()
    model = rs.PSDCODE(2).fit(data)
    steps = model.path_
    ratio = np.array([step["lambda"] for step in steps]) / steps[0]["lambda"]
    figure, (eigen, likely, map_) = panels(3, 3.1, (1, 1, 1.25))
    most = max(len(step["eigenvalues"]) for step in steps)
    for axis in range(most):
        values = [step["eigenvalues"][axis] if axis < len(step["eigenvalues"]) else 0.0 for step in steps]
        eigen.semilogx(ratio, values, lw=1.4)
    eigen.invert_xaxis()
    measured(eigen, "size of the axes of G", "λ / largest", "eigenvalue")
    likely.semilogx(ratio, [step["log_likelihood"] for step in steps], label="G, all axes", color=LIGHT.muted)
    likely.semilogx(
        ratio, [step["projected_log_likelihood"] for step in steps], label="its two axes", color=ORANGE
    )
    likely.axvline(model.lambda_ / steps[0]["lambda"], color=LIGHT.faint, zorder=0)
    likely.invert_xaxis()
    likely.legend(fontsize=7.5, frameon=False, loc="lower right")
    measured(likely, "log-likelihood; the line is what is kept", "λ / largest", "nats")
    labelled(
        map_,
        {
            "staff": (data.entities["staff"].labels, model.row_embedding_),
            "smoking": (data.entities["smoking"].ids, model.column_embedding_),
        },
        "the map of that λ",
    )
    written(figure, "psd_code")


def multi_code() -> None:
    """Draw modules, words and chapters: chapters and modules meet through words alone."""
    data = rs.datasets.load_stdlib().only("words")
    counts = data.matrix().tocsr()
    chapters = data.entities["module"].fields["chapter"].astype(str)
    names = np.unique(chapters[chapters != "Other"])
    common = np.asarray(counts.sum(axis=0)).ravel().argsort()[-400:]
    sums = np.vstack([np.asarray(counts[chapters == name][:, common].sum(axis=0)).ravel() for name in names])
    keep = np.asarray(counts[:, common].sum(axis=1)).ravel() > 0
    tables = {("module", "word"): counts[keep][:, common], ("chapter", "word"): csr_array(sums)}
    model = rs.MultiCODE(ridge=1e-4, weights="equal", equal_rows=True, random_state=0).fit(tables)
    figure, (everything, four) = panels(2, 4.0, (1.5, 1.5))
    places = model.embeddings_
    for kind, color, marker, size in (
        ("word", LIGHT.other, "^", 6),
        ("module", BLUE, "o", 14),
        ("chapter", KIND_COLORS[2], "s", 26),
    ):
        everything.scatter(*places[kind].T, s=size, color=color, marker=marker, linewidths=0, label=kind)
    everything.legend(fontsize=8, frameon=False, loc="best")
    plain(everything, "given: modules × words and chapters × words")
    shown = np.argsort([-(chapters[keep] == name).sum() for name in names], kind="stable")[:5]
    four.scatter(*places["module"].T, s=8, color=LIGHT.faint, linewidths=0)
    for number, chapter in enumerate(shown):
        own, color = chapters[keep] == names[chapter], KIND_COLORS[number]
        four.scatter(*places["module"][own].T, s=18, color=color, linewidths=0)
        four.scatter(
            *places["chapter"][chapter], s=60, color=color, marker="s", edgecolor=LIGHT.ink, zorder=5
        )
    plain(four, "never told: which module stands in which chapter")
    for panel in (everything, four):
        outliers_off(panel, places["module"], 0.04, wide=True)
    free_names(four, places["chapter"][shown], list(names[shown]), list(KIND_COLORS[: len(shown)]))
    written(figure, "multi_code")


def special() -> None:
    """Draw what a classifier thinks of digits, by parametric embedding and by SDR."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    X, y = load_digits(return_X_y=True)
    X, y = X[:600] / 16, y[:600]
    thoughts = cross_val_predict(LogisticRegression(C=1.0), X, y, cv=5, method="predict_proba")
    figure, axes = panels(2, 3.9, (1.3, 1.3))
    for panel, model, title in (
        (axes[0], rs.ParametricEmbedding(random_state=0), "parametric embedding"),
        (axes[1], rs.SDR(random_state=0, max_iterations=300), "SDR"),
    ):
        fitted = model.fit(thoughts)
        objects, classes = fitted.row_embedding_, fitted.column_embedding_
        distances = np.linalg.norm(objects[:, None] - classes, axis=2)
        right = (distances.argmin(axis=1) == thoughts.argmax(axis=1)).mean()
        by_class(panel, objects, y, f"{title}: nearest class likeliest for {right:.0%}", names=False)
        panel.scatter(*classes.T, s=90, color="white", edgecolor=LIGHT.ink, zorder=4)
        for digit, place in enumerate(classes):
            named(panel, place, str(digit), size=9.0, weight="bold")
    written(figure, "special")


PICTURES = {
    made.__name__: made
    for made in (
        correspondence_analysis,
        bipartite_spectral,
        coembedding,
        acas,
        latent_semantic_indexing,
        cfrm,
        cort,
        mkpe,
        code,
        psd_code,
        multi_code,
        special,
    )
}
