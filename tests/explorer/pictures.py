"""The pictures of the explorer in the documentation, taken in a real browser of real maps.

Everything is read from the Python that runs this, so another version of Python gives somewhat other pictures.

    python -m tests.explorer.pictures [FOLDER] [NAME ...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import relscape as rs
from relscape.explorer.exhibit import Exhibit, land
from relscape.explorer.launch import open_explorer
from tests.explorer.browser import LAPTOP, new_page, open_map, running_browser

FOLDER = Path("docs/pictures/explorer")
DIGITS = 900
NEW = {
    "a mail client": "mail message imap smtp login mailbox header mime",
    "a job runner": "process thread queue task wait timeout lock",
    "a site scraper": "http url request html parse tag cookie response header",
}


@cache
def library() -> rs.Map:
    """Modules of the standard library and the words of their documentation."""
    data = rs.datasets.load_stdlib().only("words")
    joint = rs.CorrespondenceAnalysis(n_components=12).fit(data).to_map()
    return joint.layout("tsne").with_relations(data.relations.values())


@cache
def plane() -> rs.Map:
    """The same in the plane of correspondence analysis, as it is."""
    data = rs.datasets.load_stdlib().only("words")
    return rs.CODE(model="CM", random_state=0, n_restarts=1).fit(data).to_map()


@cache
def digits() -> rs.Map:
    """Handwritten digits as cohorts."""
    content = load_digits()
    names = [f"digit {number}" for number in content.target[:DIGITS]]
    return rs.COVA("E1", random_state=0).fit(content.data[:DIGITS], names).to_map()


@cache
def facts() -> Any:
    """A model of what the standard library states about itself."""
    return rs.KGEmbedding(
        "RotatE", 64, loss="self-adversarial", negatives=64, n_batches=20, n_epochs=40, random_state=0
    ).fit(rs.datasets.load_stdlib_facts())


@cache
def imports() -> rs.Map:
    """Modules as documents that import each other."""
    data = rs.datasets.load_stdlib()
    modules = data.entities["module"].ids
    links = rs.read_links(data.only("imports"), modules)
    model = rs.DocumentNetwork(content_weight=0.3, row_normalize=True, random_state=0)
    return model.fit(data.only("words"), links).to_map().layout("tsne")


def newcomers() -> Exhibit:
    """Modules that do not exist, by some words."""
    known = set(library().group("word").ids)
    pairs = [(name, word) for name, text in NEW.items() for word in text.split() if word in known]
    new = rs.RelationalData.from_edges(pairs, rows="module", columns="word")
    return Exhibit(library(), "The Python standard library", newcomers=land(library(), new))


def knowledge() -> Exhibit:
    """Entities and relations, with the model that answers."""
    return Exhibit(facts().to_map(), "Facts of the standard library", knowledge=facts())
