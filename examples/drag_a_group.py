"""Drag a group across a map and see who comes along: modules of the standard library by chapter.

COVA-E1 is linear in the prototypes, so a move needs no new fit: one product of two matrices. What a sample
does says what it belongs to. Modules that the dragged chapter holds most go along, those with a foot in
several chapters go part of the way.

    python examples/drag_a_group.py
"""

from __future__ import annotations

import numpy as np

import relscape as rs

LEAST = 6  # modules of a chapter; smaller ones are gathered under "other"
DRAGGED = "Concurrent Execution"


def main() -> None:
    data = rs.datasets.load_stdlib().only("words")
    modules = data.entities["module"]
    chapters = modules.fields["chapter"].astype(str)
    names, counts = np.unique(chapters, return_counts=True)
    large = names[counts >= LEAST]
    y = [chapter if chapter in large or chapter == DRAGGED else "other" for chapter in chapters]

    words = rs.CorrespondenceAnalysis(n_components=20).fit(data).row_embedding_
    model = rs.COVA("E1", n_neighbors=10, random_state=0).fit(words, y)
    at = int(np.flatnonzero(model.cohorts_ == DRAGGED)[0])

    target = model.prototypes_.copy()
    target[at] += [1.0, 0.0]
    moved = model.move(target)  # the model itself stays as it is

    step = np.linalg.norm(moved - model.embedding_, axis=1)
    print(f"{DRAGGED} was dragged by 1. Its own modules came along:")
    own = np.flatnonzero(model.labels_ == at)
    for position in own[np.argsort(-step[own])]:
        print(f"  {step[position]:.2f}  {modules.ids[position]}")
    print("Of the others, most of all:")
    others = np.flatnonzero(model.labels_ != at)
    for position in others[np.argsort(-step[others])][:6]:
        home = model.cohorts_[model.labels_[position]]
        print(f"  {step[position]:.2f}  {modules.ids[position]}, of {home}")


if __name__ == "__main__":
    main()
