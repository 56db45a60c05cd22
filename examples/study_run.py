"""A study from tables to maps, pictures and files, described in one file and made by one command.

Tables of what every Python has, the modules of its standard library, are written with a relscape.toml beside
them: six models of the five families, and four outputs. ``relscape run`` makes all of it; run again it makes
nothing, and after one line of the file is changed only what depends on it.

    python examples/study_run.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pyarrow import csv, table

import relscape as rs
from relscape.project.study import read_study
from relscape.project.study_run import StudyRun, run_study

STUDY = """\
[kinds.module]
table = "modules.csv"
label = "chapter"
features_from = "words"

[kinds.word]
[kinds.chapter]

[relations.words]
table = "words.csv"
from = "module"
to = "word"
weight = "n"

[relations.imports]
table = "imports.csv"
from = "module"
to = "module"

[relations.stands_in]
table = "modules.csv"
from = "module"
to = "chapter"

[guidance]
stands_in = 1.0

[models.vocabulary]
method = "ca"
relation = "words"
min_degree = 20

[models.everything]
method = "multicode"
relations = ["words", "stands_in"]
min_degree = 10
ridge = 0.01
tolerance = 0.001

[models.chapters]
method = "cohorts"
variant = "E1"

[models.guided]
method = "projection"
regularization = 1.0

[models.network]
method = "network"
links = "imports"
n_components = 10
max_iterations = 30
hold_out = 0.1

[models.facts]
method = "kg"
relations = ["imports", "stands_in"]
model = "TransE"
n_components = 20
n_epochs = 20
hold_out = [0.05, 0.1]

[outputs.picture]
model = "chapters"
file = "pictures/chapters.png"
size = [9, 7]

[outputs.vectors]
model = "vocabulary"
file = "vocabulary.vec"
kinds = ["word"]

[outputs.graph]
model = "network"
file = "network.graphml"

[outputs.scores]
file = "scores.json"
"""


def main() -> None:
    folder = Path("stdlib-study")
    write_tables(folder)
    file = folder / "relscape.toml"
    file.write_text(STUDY, encoding="utf-8")
    print(f"wrote tables and relscape.toml into {folder}")

    told("first run", run_study(read_study(file)))
    told("run again", run_study(read_study(file)))
    file.write_text(STUDY.replace("min_degree = 20", "min_degree = 30"), encoding="utf-8")
    told("fewer words", run_study(read_study(file)))


def write_tables(folder: Path) -> None:
    """Write modules with their chapters, the words of their documentation, and who imports whom."""
    folder.mkdir(exist_ok=True)
    library = rs.datasets.load_stdlib()
    modules = library.entities["module"]
    chapters = modules.fields["chapter"].astype(str)
    csv.write_csv(table({"module": list(modules.ids), "chapter": chapters}), folder / "modules.csv")
    words, imports = library.relation("words"), library.relation("imports")
    entries, names = words.matrix.tocoo(), library.entities["word"].ids
    csv.write_csv(
        table(
            {
                "module": list(modules.ids[entries.coords[0]]),
                "word": list(names[entries.coords[1]]),
                "n": np.asarray(entries.data),
            }
        ),
        folder / "words.csv",
    )
    source, target = imports.matrix.nonzero()
    csv.write_csv(
        table({"module": list(modules.ids[source]), "module_2": list(modules.ids[target])}),
        folder / "imports.csv",
    )


def told(title: str, run: StudyRun) -> None:
    print(f"{title}:")
    for step in run.steps:
        why = f" ({step.why})" if step.why else ""
        print(f"  {step.part} {step.name}: {step.status}{why}")


if __name__ == "__main__":
    main()
