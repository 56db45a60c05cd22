"""Every table and figure of the publications is shown by an experiment, or it is said what is missing."""

from __future__ import annotations

import re

import pytest

from relscape.project.experiments import experiments
from relscape.project.publications import STATES, publications

ITEMS = [(publication.name, item) for publication in publications() for item in publication.items]
# Experiments on data of our own choosing, where the publication's is missing or none was published.
OF_OUR_OWN = {"kg-fair", "network-stdlib", "projection-dissimilar"}


@pytest.mark.parametrize(("paper", "item"), ITEMS, ids=lambda part: getattr(part, "number", part))
def test_what_is_said_of_each_agrees(paper, item):
    assert item.state in STATES
    assert item.what
    assert set(item.experiments + item.stand_ins) <= set(experiments())
    if item.state in ("covered", "partly"):
        assert item.experiments
    else:
        assert not item.experiments
    if item.state == "partly":
        assert item.note, "say what is missing"
    if item.state == "no data":
        assert item.missing, "say whose data it would take"
    if item.state == "illustration":
        assert not (item.stand_ins or item.missing)


def test_each_stands_once_and_in_order():
    for publication in publications():
        numbers = [item.number for item in publication.items]
        assert len(set(numbers)) == len(numbers)
        for kind in ("table", "figure"):
            own = [re.findall(r"[A-Z]|\d+", n) for n in numbers if n.startswith(kind)]
            ranked = [
                [(part.isalpha(), part if part.isalpha() else int(part)) for part in parts] for parts in own
            ]
            assert ranked == sorted(ranked)


def test_every_experiment_shows_something():
    shown = {name for _, item in ITEMS for name in item.experiments + item.stand_ins}
    assert set(experiments()) - shown == OF_OUR_OWN
