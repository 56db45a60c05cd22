"""The bundle is the map: every column decodes to what the map holds, and stated errors are measured ones."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import relscape as rs
from relscape.explorer import bundle as bundling
from relscape.explorer.bundle import make_bundle
from relscape.explorer.cohorts import cohort_view, sent_response
from relscape.explorer.columns import NONE, rounded
from relscape.explorer.exhibit import Exhibit, land
from relscape.explorer.pairs import pairs_of
from relscape.maps import Group, Map


@pytest.fixture
def words_bundle(words):
    return make_bundle(Exhibit(words, "words"))


@pytest.fixture
def field(decoded):
    """Give what a bundle says of a field, and its values."""

    def find(bundle, name):
        described = next(f for f in bundle.manifest["fields"] if f["name"] == name)
        return described, decoded(bundle, described["column"])

    return find


# ---------------------------------------------------------------------- points


def test_points_are_those_of_the_map(words, words_bundle, decoded):
    drawn = np.vstack([words.group(kind).drawn for kind in words.groups])
    np.testing.assert_array_equal(decoded(words_bundle, "x"), drawn[:, 0].astype(np.float32))
    np.testing.assert_array_equal(decoded(words_bundle, "y"), drawn[:, 1].astype(np.float32))
    ids = [*words.group("doc").ids, *words.group("word").ids]
    labels = [*words.group("doc").labels, *words.group("word").ids]
    assert decoded(words_bundle, "ids") == ids
    assert decoded(words_bundle, "labels") == labels
    assert words_bundle.manifest["kinds"] == [
        {"name": "doc", "start": 0, "count": 40},
        {"name": "word", "start": 40, "count": 25},
    ]


def test_labels_travel_only_where_they_say_more(cohort_map):
    assert "labels" not in make_bundle(Exhibit(cohort_map, "cohorts")).columns


def test_coordinates_are_exact_to_single_precision(words, words_bundle, decoded):
    told = words_bundle.manifest["coordinates"]
    points = np.vstack([words.coordinates(kind) for kind in words.groups])
    assert (told["k"], told["quantised"], words_bundle.manifest["neighbors"]) == (3, False, "page")
    np.testing.assert_allclose(decoded(words_bundle, told["column"]), points, rtol=1e-6)


def test_rounded_coordinates_state_their_error(words, monkeypatch, decoded):
    monkeypatch.setattr(bundling, "MOST_EXACT_IN_FILE", 10)
    made = make_bundle(Exhibit(words, "words"), served=False)
    told = made.manifest["coordinates"]
    points = np.vstack([words.coordinates(kind) for kind in words.groups])
    seen = np.array(told["offset"]) + np.array(told["scale"]) * decoded(made, "coordinates")
    measured = np.abs(seen - points).max() / (points.max() - points.min())
    assert told["quantised"]
    assert told["error"] == pytest.approx(measured, rel=1e-9)
    assert 0 < measured <= 0.5 / 65_535


@pytest.mark.parametrize(("served", "expected"), [(True, "server"), (False, "none")])
def test_too_many_coordinates_stay_behind(words, monkeypatch, served, expected):
    monkeypatch.setattr(bundling, "MOST_COORDINATES", 10)
    made = make_bundle(Exhibit(words, "words"), served)
    assert made.manifest["coordinates"] is None
    assert made.manifest["neighbors"] == expected
    assert "coordinates" not in made.columns


def test_rounding_spans_the_values_and_keeps_constants():
    values = np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]])
    sent = rounded(values, axis=0)
    assert sent.codes[:, 0].tolist() == [0, 21845, 65535]
    np.testing.assert_allclose(sent.values(), values, atol=1e-12)
    assert rounded(np.empty((0, 3))).codes.shape == (0, 3)


# ---------------------------------------------------------------------- fields


def test_numbers_of_several_kinds_share_a_column(words, words_bundle, field):
    told, values = field(words_bundle, "degree")
    expected = np.concatenate([words.group(kind).fields["degree"] for kind in words.groups])
    assert (told["type"], told["kinds"], told["start"], told["count"]) == ("number", ["doc", "word"], 0, 65)
    np.testing.assert_array_equal(values, expected.astype(np.float32))


def test_large_whole_numbers_stay_whole(words, words_bundle, field):
    told, values = field(words_bundle, "number")
    assert words_bundle.manifest["columns"][told["column"]]["dtype"] == "f64"
    np.testing.assert_array_equal(values, words.group("doc").fields["number"])


def test_classes_are_numbered_by_frequency(words, words_bundle, field):
    told, codes = field(words_bundle, "topic")
    assert told["categories"] == ["art", "sport"]
    names = [None if code == NONE else told["categories"][code] for code in codes.tolist()]
    assert names == words.group("doc").fields["topic"].tolist()


def test_truth_values_are_classes_and_many_texts_are_texts(words, words_bundle, field):
    told, codes = field(words_bundle, "open")
    assert told["categories"] == ["false", "true"]
    assert codes.tolist() == [1, 0] * 20
    told, texts = field(words_bundle, "note")
    assert told["type"] == "text"
    assert texts == words.group("doc").fields["note"].tolist()


def test_a_field_that_a_kind_between_lacks(field):
    groups = [
        Group("a", ["1", "2"], np.zeros((2, 2)), fields={"size": np.array([1.5, np.nan])}),
        Group("b", ["1"], np.ones((1, 2))),
        Group("c", ["1"], np.ones((1, 2)), fields={"size": np.array([4])}),
    ]
    told, values = field(make_bundle(Exhibit(Map(groups), "three")), "size")
    assert (told["kinds"], told["start"], told["count"]) == (["a", "c"], 0, 4)
    np.testing.assert_array_equal(values, np.array([1.5, np.nan, np.nan, 4.0], dtype=np.float32))


def test_few_whole_numbers_are_classes_in_their_order_but_counts_are_numbers(field):
    years = np.array([2003, 2001, 2001, 2001, 2010])
    group = Group("a", list("12345"), np.zeros((5, 2)), fields={"year": years, "degree": years})
    made = make_bundle(Exhibit(Map([group]), "years"))
    assert field(made, "year")[0]["categories"] == ["2001", "2003", "2010"]
    assert field(made, "degree")[0]["type"] == "number"


def test_dates_and_odd_values_become_texts(field):
    odd = np.array([1, "1", None, 2.5, float("nan")], dtype=object)
    days = np.array(["2020-01-02", "NaT", "2020-01-02", "2021-05-06", "NaT"], dtype="datetime64[D]")
    group = Group("a", list("12345"), np.zeros((5, 2)), fields={"odd": odd, "day": days})
    made = make_bundle(Exhibit(Map([group]), "odd"))
    told, codes = field(made, "odd")
    assert [None if c == NONE else told["categories"][c] for c in codes] == ["1", "1", None, "2.5", None]
    told, codes = field(made, "day")
    assert told["categories"] == ["2020-01-02", "2021-05-06"]
    assert codes.tolist() == [0, NONE, 0, 1, NONE]


def test_importance_prefers_the_usual_fields(words_bundle):
    assert words_bundle.manifest["importance"] == ["degree", "number"]


# ---------------------------------------------------------------------- relations


def test_relations_name_their_pairs(words, words_bundle, decoded):
    counts, like = words_bundle.manifest["relations"]
    parts = [decoded(words_bundle, counts["columns"][part]) for part in ("from", "to", "weight")]
    rebuilt = np.zeros((65, 65))
    rebuilt[parts[0], parts[1]] = parts[2]
    np.testing.assert_array_equal(rebuilt[:40, 40:], words.relations["counts"].matrix.toarray())
    assert not rebuilt[:, :40].any()
    assert (counts["from"], counts["to"], counts["directed"]) == ("doc", "word", True)
    assert like["count"] == words.relations["like"].matrix.nnz / 2
    assert not like["directed"]


def test_of_many_pairs_the_strongest_travel(words):
    pairs = pairs_of(words.relations["counts"], {"doc": 0, "word": 40}, most=20)
    weights = np.sort(words.relations["counts"].matrix.data)[::-1]
    assert pairs.total == len(weights)
    assert sorted(pairs.weights, reverse=True) == weights[:20].tolist()


def test_relations_can_be_left_out(words):
    made = make_bundle(Exhibit(words, "words", relations=False))
    assert made.manifest["relations"] == []
    assert not [name for name in made.columns if name.startswith("relation")]


# ---------------------------------------------------------------------- cohorts


@pytest.fixture
def dragged(decoded):
    """Compute the places of the samples for other prototypes, as a page does."""

    def compute(bundle, prototypes):
        told = bundle.manifest["cohorts"]["response"]
        response = told["offset"] + told["scale"] * decoded(bundle, told["column"])
        start = np.column_stack([decoded(bundle, "x"), decoded(bundle, "y")])[: len(response)]
        return start + response @ (prototypes - decoded(bundle, "prototypes"))

    return compute


def test_dragging_in_the_page_is_what_the_model_does(cohort_model, cohort_map, rng, decoded, dragged):
    made = make_bundle(Exhibit(cohort_map, "cohorts"))
    told = made.manifest["cohorts"]
    start = decoded(made, "prototypes").astype(float)
    np.testing.assert_allclose(dragged(made, start), cohort_model.embedding_, atol=1e-6)
    moved = start + rng.normal(size=start.shape)
    farthest = np.linalg.norm(moved - start, axis=1).max()
    off = np.linalg.norm(dragged(made, moved) - cohort_model.move(moved), axis=1).max()
    assert off <= told["response"]["error"] * farthest + 1e-6
    assert told["drag"]
    assert told["response"]["following"] == 180


@pytest.mark.parametrize("most_dense", [10**9, 1])
def test_the_error_of_the_response_is_the_one_measured(cohort_map, most_dense):
    view = cohort_view(cohort_map)
    sent = sent_response(view, most_dense, most_kept=0)
    codes = np.frombuffer(sent.columns["response"].data, "<u2").reshape(sent.columns["response"].shape)
    seen = sent.description["offset"] + sent.description["scale"] * codes
    if sent.description["form"] == "top":
        index = np.frombuffer(sent.columns["response-index"].data, "<u2").reshape(codes.shape)
        assert codes.shape[1] == 4
        whole = np.zeros_like(view.response)
        np.put_along_axis(whole, index.astype(int), seen, axis=1)
        seen = whole
    measured = np.abs(seen - cohort_map.arrays["response"]).sum(axis=1).max()
    assert sent.error == pytest.approx(measured, rel=1e-6)
    assert 0 < sent.error < (1e-3 if most_dense > 1 else 0.5)


def test_an_aligned_map_and_things_placed_later(cohort_model, cohort_map, rng, decoded, dragged):
    turned = Map([replace(cohort_map.group("sample"), coordinates=rng.normal(size=(180, 2)), layout=None)])
    aligned = cohort_map.align(turned)
    new = cohort_model.features_[:5] + 0.01
    frame = rs.RelationalData.from_matrix(
        new, "sample", "feature", [f"new{i}" for i in range(5)], cohort_model.column_entities_.ids
    )
    grown = rs.place(aligned, frame)
    made = make_bundle(Exhibit(grown, "grown"))
    told = made.manifest["cohorts"]
    start = decoded(made, "prototypes").astype(float)
    np.testing.assert_allclose(dragged(made, start), grown.group("sample").drawn, atol=1e-5)
    moved = start + rng.normal(size=start.shape)
    places = dragged(made, moved)
    np.testing.assert_allclose(places[180:], grown.group("sample").drawn[180:], atol=1e-6)
    # what the model does without the alignment, aligned afterwards
    matrix, offset = aligned.arrays["alignment_matrix"], aligned.arrays["alignment_offset"]
    back = np.linalg.solve(matrix.T, (moved - offset).T).T
    expected = cohort_model.move(back) @ matrix + offset
    np.testing.assert_allclose(places[:180], expected, atol=1e-3)
    assert told["response"]["following"] == 180
    assert not told["refit"]
    assert "5 sample things" in told["refit_reason"]


def test_moves_in_a_plane_of_more_dimensions(rng, decoded, dragged):
    model = rs.COVA("E1", n_components=3, random_state=0)
    model.fit(rng.normal(size=(60, 5)), np.repeat(list("abcdef"), 10))
    drawn = model.to_map().layout("pca")
    made = make_bundle(Exhibit(drawn, "three dimensions"))
    told = made.manifest["cohorts"]["coordinates"]
    start = decoded(made, "prototypes").astype(float)
    moved = start + rng.normal(size=start.shape)
    coordinates = decoded(made, told["column"]) + (moved - start) @ np.array(told["to"])
    with_one = np.column_stack([drawn.coordinates("sample"), np.ones(60)])
    plane = np.linalg.lstsq(with_one, drawn.group("sample").drawn, rcond=None)[0]
    expected = np.column_stack([model.move(coordinates), np.ones(60)]) @ plane
    np.testing.assert_allclose(dragged(made, moved), expected, atol=1e-3)


def test_why_nothing_can_be_dragged(cohort_map, rng):
    without = Map([cohort_map.group(kind) for kind in cohort_map.groups], parameters={"variant": "E2"})
    told = make_bundle(Exhibit(without, "E2")).manifest["cohorts"]
    assert (told["drag"], told["response"]) == (False, None)
    assert "E2 is not linear" in told["drag_reason"]
    assert "does not carry its model" in told["refit_reason"]
    odd = [replace(cohort_map.group(kind), layout=rng.normal(size=(len(cohort_map.group(kind)), 2)))
           for kind in cohort_map.groups]  # fmt: skip
    told = make_bundle(Exhibit(cohort_map.with_groups(odd), "odd picture")).manifest["cohorts"]
    assert "not a plane" in told["drag_reason"]
    assert told["coordinates"]["to"] is None
    short = Map([cohort_map.group(kind) for kind in cohort_map.groups], arrays={"response": np.eye(6)})
    assert "does not fit" in make_bundle(Exhibit(short, "short")).manifest["cohorts"]["drag_reason"]


def test_a_file_says_what_needs_a_server(cohort_map, network_map, graph_model):
    told = make_bundle(Exhibit(cohort_map, "cohorts"), served=False).manifest["cohorts"]
    assert told["drag"]
    assert not told["refit"]
    assert "relscape explore" in told["refit_reason"]
    told = make_bundle(Exhibit(network_map, "links"), served=False).manifest["network"]
    assert not told["suggest"]
    assert "relscape explore" in told["suggest_reason"]
    exhibit = Exhibit(graph_model.to_map(), "facts", knowledge=graph_model)
    assert make_bundle(exhibit, served=False).manifest["knowledge"] is None
    assert make_bundle(exhibit).manifest["knowledge"]["relations"] == ["r0", "r1"]


# ---------------------------------------------------------------------- the rest


def test_networks_say_so(network_map):
    made = make_bundle(Exhibit(network_map, "links")).manifest
    assert made["network"] == {"kind": "sample", "links": "links", "suggest": True, "suggest_reason": ""}
    assert made["relations"][0]["role"] == "link"


def test_newcomers_land_where_the_model_places_them(cohort_model, cohort_map, decoded):
    new = cohort_model.features_[:3] + 0.02
    data = rs.RelationalData.from_matrix(
        new, "sample", "feature", ["7", "new a", "new b"], cohort_model.column_entities_.ids
    )
    landed = land(cohort_map, data)
    np.testing.assert_allclose(landed.coordinates, cohort_model.transform(new), atol=1e-12)
    assert landed.names.tolist() == ["7", "new a", "new b"]
    assert landed.known.tolist() == [True, False, False]
    made = make_bundle(Exhibit(cohort_map, "new", newcomers=landed))
    told = made.manifest["projection"]
    assert (told["kind"], told["count"], told["names"]) == ("sample", 3, landed.names.tolist())
    np.testing.assert_allclose(decoded(made, told["columns"]["coordinates"]), landed.coordinates, atol=1e-6)
    np.testing.assert_allclose(decoded(made, told["columns"]["x"]), landed.drawn[:, 0], atol=1e-6)


def test_newcomers_among_things_that_were_placed_before(cohort_model, cohort_map):
    def data(names, shift):
        return rs.RelationalData.from_matrix(
            cohort_model.features_[: len(names)] + shift, "sample", "feature", names,
            cohort_model.column_entities_.ids,
        )  # fmt: skip

    grown = rs.place(cohort_map, data(["x", "y"], 0.1))
    assert land(grown, data(["z"], 0.2)).names.tolist() == ["z"]


def test_a_manifest_is_plain_json(words_bundle, cohort_map):
    for made in (words_bundle, make_bundle(Exhibit(cohort_map, "cohorts"))):
        assert json.loads(json.dumps(made.manifest, allow_nan=False)) == made.manifest
    odd = Map([cohort_map.group("cohort")], scores={"fine": np.float32(0.5), "odd": float("nan")})
    assert make_bundle(Exhibit(odd, "odd")).manifest["summary"]["scores"] == {"fine": 0.5, "odd": None}
    assert words_bundle.manifest["summary"]["layout"]["axes"] == ["axis 1 of 3", "axis 2 of 3"]


def test_half_characters_do_not_stop_a_page():
    group = Group("a", ["1", "2"], np.zeros((2, 2)), fields={"n": np.array(["\ud800", "b"], dtype=object)})
    made = make_bundle(Exhibit(Map([group]), "half"))
    assert made.manifest["fields"][0]["name"] == "n"
