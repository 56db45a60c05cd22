"""Maps of 20 Newsgroups, the NIPS papers and Cora by correspondence analysis: the gallery's pictures.

Reads the sets from the folder that RELSCAPE_DATA names ('relscape datasets list' says which are there)
and writes their pictures into the working directory, with the scores of the map on the terminal.

    RELSCAPE_DATA=data python examples/public_maps.py            all of them
    RELSCAPE_DATA=data python examples/public_maps.py nips       one of newsgroups20, unfiltered, nips, cora
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import eye_array

import relscape as rs
from relscape.data import Relation
from relscape.plot import save_picture
from relscape.scores import gamma_terms

THEMES = {
    "neuroscience": ("neuro", "biolog"),
    "vision": ("vision", "visual", "image"),
    "speech and signals": ("speech", "signal", "handwriting"),
    "control and planning": ("control", "navigation", "planning", "reinforcement", "robot"),
    "hardware": ("implementation", "vlsi", "hardware"),
    "cognitive science": ("cogniti", "language"),
    "learning theory": ("theor", "generali", "complexity"),
    "applications": ("application",),
    "algorithms": ("algorithm", "architect", "network"),
}


def documents_with(data: rs.RelationalData) -> np.ndarray:
    """Count the documents that each word occurs in."""
    matrix = data.matrix()
    return np.bincount(matrix.indices, minlength=matrix.shape[1])


def words_that_tell(data: rs.RelationalData, least: int, commonest: int) -> rs.RelationalData:
    """Keep words of three letters or more in at least ``least`` documents, but not the commonest.

    A word in a handful of documents pulls an axis of its own towards them (correspondence analysis
    weighs by distance from the centre, and rare things are far out); a word in most of them says
    nothing. Documents that are left with fewer than twenty words go too, for the first reason.
    """
    frequency = documents_with(data)
    long_enough = np.array([len(word) >= 3 for word in data.entities["word"].ids])
    common = np.zeros(frequency.size, dtype=bool)
    common[np.argsort(-frequency, kind="stable")[:commonest]] = True
    data = data.select("word", (frequency >= least) & long_enough & ~common)
    return data.select("doc", np.diff(data.matrix().indptr) >= 20)


def mapped(data: rs.RelationalData, label: str, axes: int = 20) -> rs.Map:
    """Fit, say how good the map is, and give it."""
    model = rs.CorrespondenceAnalysis(n_components=axes).fit(data)
    R, rows, columns = data.matrix(), model.row_embedding_, model.column_embedding_
    classes = data.entities["doc"].fields[label]
    gamma = gamma_terms(R, rows, columns, k_rows=5, k_columns=5, ties="positive")
    print(
        f"  {R.shape[0]:,} documents, {R.shape[1]:,} words, {R.nnz:,} pairs, {axes} axes\n"
        f"  inertia shown {model.inertia_.sum() / model.total_inertia_:.1%}\n"
        f"  Γ {gamma.loss:.0f} of {gamma.pairs} mutual pairs lost ({gamma.ratio:.1%})\n"
        f"  mean rank of a document's ten strongest words {rs.mean_rank(R, rows, columns):.0f}\n"
        f"  1-NN error by {label} {rs.one_nn_error(rows, classes, random_state=0):.1%}"
    )
    return model.to_map()


def drawn(joint: rs.Map, name: str, **options: Any) -> None:
    """Save a picture, with a palette of 256 colours so that it stays small."""
    save_picture(joint, Path(f"{name}.png"), dpi=100, colors=256, size=(12.0, 9.0), **options)
    print(f"  saved {name}.png")


def newsgroups20() -> None:
    """20 Newsgroups: messages and words."""
    data = words_that_tell(rs.datasets.load_newsgroups20(), least=60, commonest=150)
    joint = mapped(data, "newsgroup").layout("tsne")
    drawn(
        joint,
        "newsgroups20",
        color="newsgroup",
        labels={"word": 110},
        title="20 Newsgroups: messages and words",
    )


def unfiltered() -> None:
    """20 Newsgroups as it comes, without a picture: who owns the first axis, and the scores."""
    data = rs.datasets.load_newsgroups20()
    model = rs.CorrespondenceAnalysis(n_components=1).fit(data)
    words, messages = model.column_contributions_[:, 0], np.sort(model.row_contributions_[:, 0])[::-1]
    strongest, needed = int(words.argmax()), int(np.searchsorted(np.cumsum(messages), 0.9)) + 1
    print(
        f"  the word {data.entities['word'].ids[strongest]} has {words[strongest]:.1%} of the first axis, "
        f"{needed} of {messages.size:,} messages have 90 % of it"
    )
    mapped(data, "newsgroup")


def nips() -> None:
    """NIPS 0 to 12: papers and words, sessions gathered into nine themes."""
    data = words_that_tell(rs.datasets.load_nips().only("counts"), least=50, commonest=150)
    docs = data.entities["doc"]
    themes = [theme_of(str(session)) for session in docs.fields["session"]]
    data = data.with_entities(docs.with_fields(docs.ids, {"theme": themes}))
    joint = mapped(data, "theme").layout("tsne")
    title = "Thirteen years of NIPS: papers and words"
    drawn(joint, "nips", color="theme", labels={"word": 90}, title=title)
    for word in ("reinforcement", "spike", "chip", "bayesian"):
        papers = joint.neighbors(("word", word), among="doc", k=2)
        print(f"  near {word}: {'; '.join(paper.label for paper in papers)}")


def theme_of(session: str) -> str | None:
    """Give the theme of a session's name; the sessions changed names almost every year."""
    name = session.lower()
    return next((theme for theme, parts in THEMES.items() if any(part in name for part in parts)), None)


def cora() -> None:
    """Cora, twice: papers by their own words, and by the words of the papers one citation away as well.

    The words are anonymous, so none is named and only the papers are drawn.
    """
    whole = rs.datasets.load_cora()
    links = whole.matrix("links")
    around = eye_array(links.shape[0]) + ((links + links.T) > 0)
    data = whole.only("words")
    data = data.select("word", documents_with(data) >= 10)
    papers, words = data.entities.values()
    names = [name.replace("_", " ") for name in papers.fields["class"]]
    papers = papers.with_fields(papers.ids, {"class": names})
    for name, matrix, title in (
        ("cora", data.matrix(), "Cora: papers placed by their words"),
        (
            "cora_links",
            around @ data.matrix(),
            "Cora: papers placed by their words and those one citation away",
        ),
    ):
        print(f" {name}")
        joint = mapped(
            rs.RelationalData([papers, words], [Relation("words", "doc", "word", matrix)]), "class"
        )
        drawn(joint.layout("tsne"), name, color="class", kinds="doc", labels=0, title=title)


RUNS = {"newsgroups20": newsgroups20, "unfiltered": unfiltered, "nips": nips, "cora": cora}


def main(names: Sequence[str] = ()) -> None:
    for name in names or RUNS:
        print(name)
        RUNS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
