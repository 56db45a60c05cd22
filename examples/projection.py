"""Several tables and what is known of some pairs, described in a project file: a guided projection.

Without a name this takes what every Python has: the modules of its standard library, described by the words
of their documentation, and the chapters they stand in. Of every fifth module the chapter is kept back; the
map has to tell it from the words alone. With "reuters" it maps newswire stories, their topics and the places
they speak of, which is the gallery's picture; that set is read from the folder that RELSCAPE_DATA names.
Topics and places are told of its training stories only.

Both write tables and a relscape.toml beside them, read that, and fit what it says. The same file works with
``relscape project`` on the command line.

    python examples/projection.py
    RELSCAPE_DATA=data python examples/projection.py reuters        half a minute
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import csv, table

import relscape as rs
from relscape.errors import RelscapeWarning
from relscape.plot import save_picture
from relscape.project.study import read_study
from relscape.project.study_data import load_study
from relscape.project.study_projection import guided, projection_model, to_map
from relscape.tuning.projection import tune_projection

STDLIB = """\
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

[relations.stands_in]
table = "chapters.csv"
from = "module"
to = "chapter"

[guidance]
stands_in = 1.0
"""

REUTERS = """\
[kinds.story]
table = "stories.csv"
label = "topic"
features_from = "words"

[kinds.word]
[kinds.topic]
[kinds.place]

[relations.words]
table = "words.csv"
from = "story"
to = "word"
weight = "n"

[relations.about]
table = "topics.csv"
from = "story"
to = "topic"

[relations.speaks_of]
table = "places.csv"
from = "story"
to = "place"

[guidance]
about = 1.0
speaks_of = 1.0

[models.news]
method = "projection"
n_components = 10
"""


def stdlib() -> None:
    """Map modules and chapters; judge by modules whose chapter was kept back."""
    library = rs.datasets.load_stdlib()
    modules, chapters = (
        library.entities["module"].ids,
        library.entities["module"].fields["chapter"].astype(str),
    )
    kept_back = np.arange(len(modules)) % 5 == 0
    told = ~kept_back & (chapters != "Other")
    folder = Path("stdlib")
    written(folder / "modules.csv", module=modules, chapter=chapters)
    written(folder / "chapters.csv", module=modules[told], chapter=chapters[told])
    written(folder / "words.csv", **pairs(library, "words", "module", "word"))
    (folder / "relscape.toml").write_text(STDLIB, encoding="utf-8")
    print(f"  wrote tables and relscape.toml into {folder}")

    loaded = load_study(read_study(folder))
    chosen = guided(loaded)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)  # of chapters that a fold does not know
        choice = tune_projection(
            rs.HeterogeneousProjection(random_state=0),
            chosen.data,
            chosen.weights,
            kind="module",
            other="chapter",
            regularizations=(1.0, 10.0, 100.0),
            n_components=(5, 20),
            random_state=0,
        )
    print(f"  {choice.n_components} axes, ridge {choice.regularization:g}: {choice.reason}")
    joint = to_map(choice.model, chosen, loaded)
    known = set(chapters[told])
    judged(
        joint,
        "module",
        "chapter",
        modules,
        chapters,
        kept_back & np.isin(chapters, list(known)),
        chapters[told],
    )
    drawn(
        joint.layout("tsne"),
        "stdlib_projection",
        color="chapter",
        labels={"module": 60, "chapter": 30},
        title="Modules of Python beside their chapters",
    )


def reuters() -> None:
    """Map stories, topics and places; judge by the stories of the usual test set."""
    news = rs.datasets.load_reuters21578()
    stories = news.entities["doc"]
    topics, train = stories.fields["topic"].astype(str), stories.fields["modapte"] == "train"
    named = [
        (story, place.strip())
        for story, places, known in zip(stories.ids, stories.fields["places"], train, strict=True)
        for place in str(places or "").split(",")
        if place.strip() and known
    ]
    folder = Path("reuters")
    written(folder / "stories.csv", story=stories.ids, topic=topics)
    written(folder / "topics.csv", story=stories.ids[train], topic=topics[train])
    written(folder / "places.csv", story=[story for story, _ in named], place=[place for _, place in named])
    written(folder / "words.csv", **pairs(news, "counts", "story", "word"))
    (folder / "relscape.toml").write_text(REUTERS, encoding="utf-8")
    print(f"  wrote tables and relscape.toml into {folder}")

    loaded = load_study(read_study(folder))
    chosen = guided(loaded)
    _, parameters = projection_model(loaded.study)
    joint = to_map(
        rs.HeterogeneousProjection(**parameters, random_state=0).fit(chosen.data, chosen.weights),
        chosen,
        loaded,
    )
    test = (stories.fields["modapte"] == "test") & np.isin(topics, np.unique(topics[train]))
    judged(joint, "story", "topic", stories.ids, topics, test, topics[train])
    for thing in ("topic:coffee", "topic:ship", "topic:gold", "place:japan", "place:kuwait"):
        other = "place" if thing.startswith("topic") else "topic"
        print(f"  {other}s near {thing}: {', '.join(n.label for n in joint.neighbors(thing, other, 4))}")
    drawn(
        joint.layout("tsne"),
        "reuters_projection",
        color="topic",
        labels={"topic": 40, "place": 40, "story": 0},
        title="Newswire stories of 1987, their topics and the places they speak of",
    )


def pairs(data: rs.RelationalData, name: str, rows: str, columns: str) -> dict[str, Any]:
    """Give a relation as the columns of a table of pairs."""
    relation = data.relation(name)
    cells = relation.matrix.tocoo()
    left, right = data.entities[relation.rows].ids, data.entities[relation.columns].ids
    return {rows: left[cells.coords[0]], columns: right[cells.coords[1]], "n": cells.data}


def written(path: Path, **columns: Iterable[Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    csv.write_csv(table({name: list(values) for name, values in columns.items()}), path)


def judged(
    joint: rs.Map, kind: str, other: str, ids: Any, truth: Any, asked: Any, told: Sequence[str]
) -> None:
    """Say how often the true partner of things not told of is nearest, or among the nearest three."""
    near = joint.neighbors_of([(kind, name) for name in ids[asked]], other, 3)
    first = np.mean([found[0].id == right for found, right in zip(near, truth[asked], strict=True)])
    three = np.mean([right in [n.id for n in found] for found, right in zip(near, truth[asked], strict=True)])
    names, counts = np.unique(told, return_counts=True)
    guess = np.mean(truth[asked] == names[counts.argmax()])
    print(
        f"  of {asked.sum():,} {kind} not told of, the nearest {other} is right for {first:.0%}, one of the "
        f'nearest three for {three:.0%}; always "{names[counts.argmax()]}" is right for {guess:.0%}'
    )


def drawn(joint: rs.Map, name: str, **options: Any) -> None:
    """Save a picture, with a palette of 256 colours so that it stays small."""
    save_picture(joint, Path(f"{name}.png"), dpi=100, colors=256, size=(12.0, 10.0), **options)
    print(f"  saved {name}.png")


RUNS = {"stdlib": stdlib, "reuters": reuters}


def main(names: Sequence[str] = ("stdlib",)) -> None:
    for name in names:
        print(name)
        RUNS[name]()


if __name__ == "__main__":
    main(sys.argv[1:] or ("stdlib",))
