"""A first map: the smoking habits of a company's staff, by correspondence analysis.

The table is Greenacre's (1984), five staff groups by four habits. The numbers printed are the ones in
every textbook that uses it: the first axis holds 87.8 % of the inertia, the first two 99.5 %.

    python examples/first_map.py
"""

from __future__ import annotations

from pathlib import Path

import relscape as rs
from relscape.plot import save_picture


def main() -> None:
    data = rs.datasets.load_smoking()
    model = rs.CorrespondenceAnalysis(n_components=2).fit(data)
    joint = model.to_map()

    shares = model.inertia_ / model.total_inertia_
    print("share of the inertia on each axis:", ", ".join(f"{share:.1%}" for share in shares))
    for staff in joint.group("staff").ids:
        near = joint.neighbors(("staff", staff), among="smoking", k=1)[0]
        print(f"{staff}: nearest habit is {near.label}, at distance {near.distance:.3f}")

    joint.save("smoking-map")
    save_picture(joint, Path("smoking.png"), dpi=110, title="Smoking habits by staff group", full=True)
    print("saved smoking-map and smoking.png")


if __name__ == "__main__":
    main()
