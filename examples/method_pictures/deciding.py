"""A picture of the way to a method: what you have, what you want, what to take."""

from __future__ import annotations

import matplotlib.pyplot as plt
from drawing import written

from relscape.plot.palette import KIND_COLORS, LIGHT

# what one has; then every wish, with the method for it
WAYS = (
    (
        "one table:\nwho goes with whom",
        ("a first look, explained", "correspondence analysis"),
        ("the best picture in two dimensions", "CODE"),
        ("strong partners side by side", "mutual co-embedding"),
        ("blocks and clusters", "bipartite spectral"),
    ),
    ("several tables,\nthree kinds or more", ("all kinds on one map", "MultiCODE")),
    (
        "samples with features",
        ("known groups where they belong", "COVA"),
        ("no groups, neighbours kept", "t-SNE"),
        ("axes of largest variance, manifolds", "scikit-learn's methods"),
    ),
    (
        "different features, pairs\nthat belong together",
        ("one space, also for newcomers", "guided projection"),
    ),
    ("two sets of measurements\nof the same things", ("what both share", "RidgeCCA")),
    ("facts:\nhead, relation, tail", ("which others are true", "knowledge graphs")),
    ("documents with\ncontents and links", ("which links are missing", "document networks")),
)
HAVE, WISH, TAKE = 0.1, 3.6, 7.8  # where the columns begin
BETWEEN = 0.3  # what parts one thing to have from the next


def choose() -> None:
    """Draw what you have on the left, an arrow for every wish, and the method on the right."""
    lines = sum(len(wishes) for _, *wishes in WAYS)
    figure, panel = plt.subplots(figsize=(9.2, 6.4))
    panel.set_axis_off()
    panel.set_xlim(0, 10.8)
    panel.set_ylim(-lines - BETWEEN * (len(WAYS) - 1) + 0.4, 1.1)
    for x, text in ((HAVE, "what you have"), (WISH, "what you want"), (TAKE, "what to take")):
        panel.text(x, 0.85, text, fontsize=10.5, weight="bold", color=LIGHT.muted)
    y = 0.0
    for number, (have, *wishes) in enumerate(WAYS):
        color = KIND_COLORS[number % len(KIND_COLORS)]
        middle = y - (len(wishes) - 1) / 2
        _box(panel, HAVE, middle, have, color, 2.7)
        for wish, method in wishes:
            _arrow(panel, (HAVE + 2.75, middle), (WISH - 0.05, y), color)
            panel.text(WISH, y, wish, fontsize=9.5, color=LIGHT.ink, va="center")
            _arrow(panel, (TAKE - 0.55, y), (TAKE - 0.05, y), color)
            _box(panel, TAKE, y, method, color, 2.9)
            y -= 1.0
        y -= BETWEEN
    written(figure, "choose")


def _arrow(panel: plt.Axes, start: tuple[float, float], end: tuple[float, float], color: str) -> None:
    panel.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.3})


def _box(panel: plt.Axes, x: float, y: float, text: str, color: str, width: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    high = 0.95 if "\n" in text else 0.62
    panel.add_patch(
        FancyBboxPatch(
            (x, y - high / 2),
            width,
            high,
            boxstyle="round,pad=0.02,rounding_size=0.08",
            fc="white",
            ec=color,
            lw=1.4,
        )
    )
    panel.text(x + width / 2, y, text, ha="center", va="center", fontsize=9.5, color=LIGHT.ink)
