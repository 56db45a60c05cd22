"""A map on which groups lie in an order of one's own, and every sample still beside its like.

Handwritten digits: t-SNE puts them where it happens to, COVA arranges the ten digits by how alike they look.
Then the plan is ours: the digits in a ring, from 0 to 9, like the face of a clock. The samples follow, and
the scores say what that costs.

    python examples/cohort_map.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import relscape as rs
from relscape.plot import draw_cohorts, save_picture
from relscape.scores import neighbor_preservation_chance


def main() -> None:
    digits = load_digits()
    X, y = digits.data[:600], [f"digit {number}" for number in digits.target[:600]]
    angle = np.pi / 2 - 2 * np.pi * np.arange(10) / 10
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    alike = rs.COVA("E1", random_state=0).fit(X, y)
    clock = rs.COVA("E2", prototypes=ring, scale=15.0, random_state=0).fit(X, y)
    print(f"{'':22}{'neighbours':>12}{'separation':>12}{'position':>10}")
    print(f"{'chance':22}{neighbor_preservation_chance(y):12.3f}")
    tell("t-SNE", rs.TSNE(random_state=0).fit(X).embedding_, X, y)
    tell("COVA-E1, alike", alike.embedding_, X, y, alike.prototypes_)
    tell("COVA-E2, a clock", clock.embedding_, X, y, clock.prototypes_)
    joint = clock.to_map()
    print("near the 3:", ", ".join(near.id for near in joint.neighbors("cohort:digit 3", "cohort", 2)))
    save_picture(draw_cohorts(joint, title="Handwritten digits round the clock"), Path("clock.png"), dpi=100)
    print("saved clock.png")


def tell(name: str, Z: Any, X: Any, y: Any, prototypes: Any = None) -> None:
    """Print what a map scores: neighbours kept within cohorts, cohorts apart, cohorts in their place."""
    place = "" if prototypes is None else f"{rs.cohort_position(Z, y, prototypes):10.3f}"
    kept = rs.neighbor_preservation(X, Z, y, random_state=0)
    print(f"{name:22}{kept:12.3f}{rs.cohort_separation(Z, y):12.3f}{place}")


if __name__ == "__main__":
    main()
