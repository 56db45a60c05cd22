"""The Python standard library as a map: modules and the words of their documentation.

Makes the picture at the top of the README. Everything is read
from the Python that runs this, so another version of Python gives a slightly different map.

    python examples/standard_library.py
"""

from __future__ import annotations

from pathlib import Path

import relscape as rs
from relscape.plot import save_picture


def main() -> None:
    data = rs.datasets.load_stdlib().only("words")
    joint = rs.CorrespondenceAnalysis(n_components=12).fit(data).to_map().layout("tsne")
    save_picture(
        joint,
        Path("stdlib.png"),
        dpi=120,
        colors=256,
        color="chapter",
        labels={"module": 45, "word": 25},
        title="The Python standard library: modules and the words that document them",
    )
    print("saved stdlib.png")
    for module in ("csv", "threading", "zipfile"):
        modules = ", ".join(n.label for n in joint.neighbors(("module", module), "module", 4))
        words = ", ".join(n.label for n in joint.neighbors(("module", module), "word", 4))
        print(f"{module}: near the modules {modules}; near the words {words}")


if __name__ == "__main__":
    main()
