"""A picture of the way to a method: what you have, what you want, what to take."""

from __future__ import annotations

import matplotlib.pyplot as plt
from drawing import written

from relscape.plot.palette import KIND_COLORS, LIGHT

# what one has; then, for each wish, the method
WAYS = (
    (
        "one table:\nwho goes with whom",
        ("a first look", "correspondence analysis"),
        ("the best plane", "CODE"),
    ),
    ("", ("strong partners near", "mutual co-embedding"), ("blocks, clusters", "bipartite spectral")),
    ("several tables,\nthree kinds or more", ("all on one map", "MultiCODE")),
    ("samples with features", ("in known groups", "COVA"), ("without groups", "t-SNE")),
    ("different features,\npairs that belong together", ("one space, newcomers", "guided projection")),
    ("facts:\nhead, relation, tail", ("which others are true", "knowledge graphs")),
    ("documents with\ncontents and links", ("which links are missing", "document networks")),
)


def choose() -> None:
    """Draw what you have on the left, and for every wish an arrow to the method."""
    figure, panel = plt.subplots(figsize=(9.2, 5.2))
    panel.set_axis_off()
    panel.set_xlim(0, 10)
    panel.set_ylim(-len(WAYS) + 0.4, 0.9)
    for x, text in ((0.1, "you have"), (3.1, "you want, and take")):
        panel.text(x, 0.65, text, fontsize=10.5, weight="bold", color=LIGHT.muted)
    for line, (have, *wishes) in enumerate(WAYS):
        color = KIND_COLORS[max(line - 1, 0)]
        if have:
            middle = -line - 0.5 if line == 0 else -line
            _box(panel, 0.1, middle, have, color, 2.6)
        for at, (wish, method) in enumerate(wishes):
            x = 3.1 + 3.5 * at
            panel.text(x, -line + 0.24, wish, fontsize=8.5, color=LIGHT.muted, va="center")
            _box(panel, x, -line - 0.1, method, color, 2.9)
        start = -0.5 if line <= 1 else -line
        panel.annotate(
            "",
            (3.05, -line - 0.1),
            (2.75, start),
            arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.3},
        )
    written(figure, "choose")


def _box(panel: plt.Axes, x: float, y: float, text: str, color: str, width: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    high = 0.62 if "\n" in text else 0.4
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
