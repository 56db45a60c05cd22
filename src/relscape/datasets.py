"""The front door to data sets: those that are always there, and public ones that a person has.

``load_stdlib``, ``make_shape``, ``make_cohorts`` and the classic tables work on every machine. The public
sets are read from the folder that the environment variable ``RELSCAPE_DATA`` names; :func:`convert` makes
them from their publishers' files.

>>> [info.name for info in available() if not info.tables]
['stdlib', 'stdlib_facts', 'smoking', 'hair_eye', 'caithness']
"""

from __future__ import annotations

from relscape.sources.catalogue import CATALOGUE, DatasetInfo, dataset_info
from relscape.sources.classic import load_caithness, load_hair_eye, load_smoking
from relscape.sources.cohort_shapes import CohortShape, make_cohorts
from relscape.sources.convert import convert
from relscape.sources.public import (
    LabelledPoints,
    load_citeseer,
    load_cora,
    load_corel5k,
    load_fb15k,
    load_nations,
    load_newsgroups20,
    load_nips,
    load_reuters21578,
    load_reviews,
    load_shapes2d,
    load_umls,
    load_webkb,
    load_wn18,
)
from relscape.sources.shapes import Shape, make_shape
from relscape.sources.stdlib import load_stdlib, load_stdlib_facts, load_stdlib_triples

__all__ = [
    "CohortShape",
    "DatasetInfo",
    "LabelledPoints",
    "Shape",
    "available",
    "convert",
    "dataset_info",
    "load_caithness",
    "load_citeseer",
    "load_cora",
    "load_corel5k",
    "load_fb15k",
    "load_hair_eye",
    "load_nations",
    "load_newsgroups20",
    "load_nips",
    "load_reuters21578",
    "load_reviews",
    "load_shapes2d",
    "load_smoking",
    "load_stdlib",
    "load_stdlib_facts",
    "load_stdlib_triples",
    "load_umls",
    "load_webkb",
    "load_wn18",
    "make_cohorts",
    "make_shape",
]


def available() -> list[DatasetInfo]:
    """List every data set that has a loader here; ``present`` says whether it can be loaded now."""
    return list(CATALOGUE.values())
