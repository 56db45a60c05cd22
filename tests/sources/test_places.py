"""Places on the globe: the committed table, and the kind that is made of a field of names."""

from __future__ import annotations

import numpy as np
import pytest

from relscape import datasets
from relscape.data import EntitySet
from relscape.errors import DataError
from relscape.sources import places


def stories(*named):
    return EntitySet("doc", np.array([f"d{i}" for i in range(len(named))]), fields={"places": list(named)})


def test_places_come_sorted_with_coordinates():
    kind, relation = places.named_places(stories("uk,france", "", "france,france"))
    assert kind.ids.tolist() == ["france", "uk"]
    assert kind.features.round(0).tolist() == [[49.0, 2.0], [52.0, -0.0]]
    assert relation.matrix.toarray().tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]


def test_no_place_at_all_is_an_empty_kind():
    kind, relation = places.named_places(stories("", ""))
    assert len(kind) == 0
    assert kind.features.shape == (0, 2)
    assert relation.matrix.shape == (2, 0)


def test_unknown_places_are_named():
    with pytest.raises(DataError, match=r"atlantis.*place_coordinates.csv"):
        places.named_places(stories("uk,atlantis"))


def test_the_table_lies_on_the_globe():
    known = places._coordinates()
    assert list(known) == sorted(known)
    latitudes, longitudes = np.array(list(known.values())).T
    assert np.abs(latitudes).max() <= 90
    assert np.abs(longitudes).max() <= 180
    south, west = {"australia", "brazil", "zimbabwe"}, {"usa", "brazil", "ireland"}
    for place in ("australia", "brazil", "zimbabwe", "usa", "ireland", "japan", "kenya", "ussr"):
        assert (known[place][0] < 0) == (place in south or place == "kenya")
        assert (known[place][1] < 0) == (place in west)


def test_all_places_of_the_stories_are_known(data_dir):
    data = datasets.load_reuters21578(places=True)
    named = {p for text in data.entities["doc"].fields["places"] for p in text.split(",") if p}
    assert set(data.entities["place"].ids) == named
    place = data.entities["place"].ids.tolist().index("japan")
    with_japan = ["japan" in text.split(",") for text in data.entities["doc"].fields["places"]]
    assert data.relations["places"].matrix.toarray()[:, place].tolist() == [float(has) for has in with_japan]
    plain = datasets.load_reuters21578()
    assert plain.kinds == ("doc", "word")
