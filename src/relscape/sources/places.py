"""Where on the globe the places lie that newswire stories name: a committed table of capitals and centres."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from functools import cache
from importlib import resources

import numpy as np
from scipy.sparse import csr_array

from relscape.data import EntitySet, Relation
from relscape.data.labels import as_text
from relscape.errors import DataError, listing
from relscape.protocols import FloatArray

__all__ = ["named_places"]

TABLE = "place_coordinates.csv"


def named_places(docs: EntitySet, field: str = "places") -> tuple[EntitySet, Relation]:
    """Read a field of places, separated by commas, as a kind of its own and a relation.

    Parameters
    ----------
    docs : EntitySet
        Documents with the field.
    field : str
        Its name; empty text names no place.

    Returns
    -------
    EntitySet
        Kind "place", sorted by name; its features are latitude and longitude in degrees.
    Relation
        "places" (document × place), 1 where the document names the place.
    """
    named = [[place for place in text.split(",") if place] for text in docs.fields[field]]
    ids = sorted({place for places in named for place in places})
    known = _coordinates()
    unknown = [place for place in ids if place not in known]
    if unknown:
        raise DataError(
            f"field {field!r} of kind {docs.kind!r} names {listing(unknown)}, of which {TABLE} does not say "
            "where it lies; add it there."
        )
    at = {place: position for position, place in enumerate(ids)}
    rows = np.repeat(np.arange(len(named)), [len(set(places)) for places in named])
    columns = np.array([at[place] for places in named for place in sorted(set(places))], dtype=np.int64)
    matrix = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(docs), len(ids)))
    places = EntitySet(
        "place", as_text(ids), features=_table(ids), feature_names=as_text(["latitude", "longitude"])
    )
    return places, Relation("places", docs.kind, "place", matrix)


def _table(ids: Iterable[str]) -> FloatArray:
    known = _coordinates()
    return np.array([known[place] for place in ids]).reshape(-1, 2)


@cache
def _coordinates() -> dict[str, tuple[float, float]]:
    text = resources.files("relscape.sources").joinpath(TABLE).read_text(encoding="utf-8")
    lines = csv.DictReader(text.splitlines())
    return {line["place"]: (float(line["latitude"]), float(line["longitude"])) for line in lines}
