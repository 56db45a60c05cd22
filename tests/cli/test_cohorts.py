"""``relscape cohorts``, ``move``, and placing and plotting on their maps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

import relscape as rs
from relscape.models.registry import revive

NAMES = ("ale", "cider", "mead", "tea")


def refused(done, *parts):
    assert done.code == 1
    assert done.out == ""
    assert "error: " in done.err
    for part in parts:
        assert part in done.err, done.err


def lines(n=80, start=0):
    rng = np.random.default_rng(5)
    centres = np.array([[0, 0, 3], [6, 0, 0], [0, 7, 0], [5, 5, 5]], float)
    for i in range(start, start + n):
        x = centres[i % 4] + rng.normal(size=3)
        yield f"c{i}", *x, NAMES[i % 4], 1990 + i % 7


@pytest.fixture
def cells(relscape):
    rows = "".join(f"{i},{a:.4f},{b:.4f},{c:.4f},{t},{y}\n" for i, a, b, c, t, y in lines())
    Path("cells.csv").write_text("cell,f_a,f_b,f_c,type,year\n" + rows)
    return Path("cells.csv")


@pytest.fixture
def made(relscape, cells):
    done = relscape("cohorts", cells, "--label", "type", "--features", "f_*", "-o", "map")
    assert done.code == 0, done.err
    return Path("map")


def test_a_table_of_features(relscape, cells):
    done = relscape("cohorts", cells, "--label", "type", "--features", "f_*")
    assert done.code == 0, done.err
    assert "COVA-E1: 80 × cell in 4 cohorts, 2 dimensions, α = 0.6: maps/cells" in done.out
    for name in ("cohort_separation", "cohort_position", "cohort_neighbors", "neighbor_preservation"):
        assert name in done.out
    assert "by chance" in done.out
    assert "next: relscape plot maps/cells  or  relscape move maps/cells 'ale=" in done.out
    joint = rs.Map.load("maps/cells")
    assert joint.groups == ("cell", "cohort")
    assert joint.group("cohort").ids.tolist() == list(NAMES)
    cell = joint.group("cell")
    assert cell.ids[:2].tolist() == ["c0", "c1"]
    assert (cell.fields["cohort"] == cell.fields["type"]).all()
    assert cell.fields["year"].tolist()[:2] == [1990, 1991]
    source = joint.provenance["source"]
    assert source == {
        "form": "table", "files": ["cells.csv"], "id": "cell", "features": ["f_a", "f_b", "f_c"]
    }  # fmt: skip
    assert "By 3 features: 'f_a', 'f_b', 'f_c'; ids from 'cell'." in done.out


def test_the_map_is_the_estimators(relscape, cells, made):
    """The command adds names to what COVA gives for the same table."""
    table = np.array([row[1:4] for row in lines()]).round(4)
    plain = rs.COVA(random_state=0).fit(table, [row[4] for row in lines()])
    joint = rs.Map.load(made)
    assert_allclose(joint.coordinates("cell"), plain.embedding_, atol=1e-9)
    assert joint.scores["cohort_separation"] == pytest.approx(plain.to_map().scores["cohort_separation"])


def test_json(relscape, cells):
    done = relscape("cohorts", cells, "-l", "type", "--alpha", 0.3, "--variant", "e1", "--json")
    assert done.json["alpha"] == 0.3
    assert done.json["cohorts"] == dict.fromkeys(NAMES, 20)
    assert done.json["sizes"] == {"cell": 80, "cohort": 4}
    assert 0 < done.json["scores"]["neighbor_preservation_chance"] < 1
    assert done.json["features"] == ["f_a", "f_b", "f_c", "year"]
    assert done.json["id"] == "cell"
    assert not done.json["standardized"]


def test_missing_labels_are_predicted_and_told(relscape, cells):
    text = cells.read_text().replace(",tea,1993", ",,1993").replace(",ale,1990", ",NA,1990")
    cells.write_text(text)
    done = relscape("cohorts", cells, "-l", "type", "--features", "f_*", "-o", "map")
    gone = text.count(",,1993") + text.count(",NA,1990")
    assert gone > 0
    assert f"{gone} of 80 had no label" in done.out
    group = rs.Map.load("map").group("cell")
    assert group.fields["predicted"].sum() == gone
    wanted = np.array([NAMES[i % 4] for i in range(80)], dtype=object)
    assert (group.fields["cohort"] == wanted).mean() > 0.9


def test_without_labels_cohorts_are_found(relscape, cells):
    done = relscape("cohorts", cells, "--features", "f_*", "-o", "map", "-p", "n_cohorts=4")
    assert "80 × cell in 4 cohorts" in done.out
    assert "found by clustering" in done.err
    assert rs.Map.load("map").group("cohort").ids.tolist()[0] == "cluster 1"


@pytest.mark.parametrize("variant", ["E2", "P1", "eigen"])
def test_other_variants(relscape, cells, variant):
    done = relscape("cohorts", cells, "-l", "type", "--features", "f_*", "-v", variant, "-o", "map")
    assert done.code == 0, done.err
    assert f"COVA-{variant}: 80 × cell" in done.out
    assert revive(rs.Map.load("map").model_state).variant == variant


def test_weights_are_chosen(relscape, cells):
    options = ("-l", "type", "--features", "f_*", "-o", "map")
    done = relscape("cohorts", cells, *options, "--choose", "preference=1,0,0", "--json")
    tried = {trial["alpha"]: trial["neighbours"] for trial in done.json["tried"]}
    assert len(tried) == 9
    assert done.json["alpha"] == max(tried, key=tried.get)
    kept = relscape("cohorts", cells, *options, "--choose", "keep=0.9")
    assert "Chosen among 9: largest α that keeps 90%" in kept.out
    largest = max(alpha for alpha, score in tried.items() if score >= 0.9 * max(tried.values()))
    assert f"α = {largest:g}" in kept.out
    assert rs.Map.load("map").provenance["chosen"]["alpha"] == largest


def test_prototypes_and_anchors_from_files(relscape, cells):
    Path("places.csv").write_text("type,x,y\ntea,0,2\nale,2,0\nmead,0,-2\ncider,-2,0\n")
    Path("held.csv").write_text("cell,x,y,weight\nc3,5,5,1000\n")
    options = ("-l", "type", "--features", "f_*", "-o", "map", "--prototypes", "places.csv")
    assert relscape("cohorts", cells, *options, "--anchors", "held.csv").code == 0
    joint = rs.Map.load("map")
    assert joint.coordinates("cohort").tolist() == [[2, 0], [-2, 0], [0, -2], [0, 2]]
    assert_allclose(joint.coordinates("cell")[3], [5, 5], atol=0.1)


def test_a_map_grows_without_jumping(relscape, cells):
    part = cells.read_text().splitlines(keepends=True)
    Path("part.csv").write_text("".join(part[:61]))
    options = ("-l", "type", "--features", "f_*", "-p", "n_neighbors=10")
    relscape("cohorts", "part.csv", *options, "-o", "first")
    relscape("cohorts", cells, *options, "--init", "first", "-o", "grown")
    relscape("cohorts", cells, *options, "-o", "afresh", "--seed", 3)
    first, grown = (rs.Map.load(name).coordinates("cell") for name in ("first", "grown"))
    assert np.linalg.norm(grown[:60] - first, axis=1).mean() < 0.3 * np.linalg.norm(first, axis=1).mean()


def test_links_arrange_cohorts(relscape, cells):
    pairs = [f"c{i},c{(i + (1 if i % 4 in (0, 2) else -1)) % 80}\n" for i in range(80)]
    Path("links.csv").write_text("from,to\n" + "".join(pairs) + "c1,elsewhere\n")
    options = ("-l", "type", "--features", "f_*", "-o", "map", "--links", "links.csv", "--prototypes", "mds")
    done = relscape("cohorts", cells, *options)
    assert done.code == 0, done.err
    assert "1 of 81 links are of things that are not samples ('elsewhere')" in done.err
    ale, cider, mead, tea = rs.Map.load("map").coordinates("cohort")
    joined = np.linalg.norm(ale - cider), np.linalg.norm(mead - tea)
    assert max(joined) < min(np.linalg.norm(ale - mead), np.linalg.norm(cider - tea))


# ---------------------------------------------------------------------- relations, texts, maps, data sets


def test_a_relation_with_a_table_of_its_rows(relscape, pairs):
    Path("docs.csv").write_text("id,class\nd1,pets\nd2,pets\nd3,water\nd4,water\n")
    columns = ("--rows", "doc", "--columns", "word", "--weight", "n", "--row-info", "docs.csv")
    done = relscape("cohorts", pairs, *columns, "--label", "class", "-k", 1, "-o", "map")
    assert done.code == 0, done.err
    assert "4 × doc in 2 cohorts, 1 dimension," in done.out
    parameters = rs.Map.load("map").parameters
    assert parameters["affinity"]["metric"] == "cosine"
    Path("new.csv").write_text("doc,word,n\nd9,fish,4\nd9,bird,1\n")
    placed = relscape("place", "map", "new.csv", "--json")
    assert placed.json["placed"] == 1
    assert placed.json["neighbors"]["d9"][0]["id"] in {"d3", "d4", "water"}


def test_texts_with_labels_beside_them(relscape):
    texts = [("cats dogs mice", "pets"), ("dogs cats birds", "pets"), ("mice cats birds", "pets")]
    texts += [("bread butter jam", "food"), ("jam bread cheese", "food"), ("butter cheese bread", "food")]
    rows = "".join(f"t{i},{text},{label}\n" for i, (text, label) in enumerate(texts))
    Path("talks.csv").write_text("title,abstract,track\n" + rows)
    options = ("--text", "abstract", "--id", "title", "--label", "track", "-k", 1, "-o", "map")
    done = relscape("cohorts", "talks.csv", *options)
    assert done.code == 0, done.err
    group = rs.Map.load("map").group("doc")
    assert group.ids.tolist() == [f"t{i}" for i in range(6)]
    Path("new.csv").write_text("title,abstract\nnew,jam and bread and wine\n")
    placed = relscape("place", "map", "new.csv", "-o", "grown")
    assert placed.code == 0, placed.err
    place = rs.Map.load("grown").group("doc").coordinates[-1]
    food = rs.Map.load("map").coordinates("cohort")[0]
    assert abs(place - food) < 0.2 * abs(group.coordinates[0] - food)


def test_points_of_an_earlier_map(relscape, made):
    done = relscape("cohorts", made, "--kind", "cell", "--label", "type", "-v", "E1", "-o", "again")
    assert done.code == 0, done.err
    again = rs.Map.load("again")
    assert again.provenance["source"] == {"form": "map", "map": "map", "kind": "cell"}
    np.testing.assert_array_equal(revive(again.model_state).features_, rs.Map.load(made).coordinates("cell"))
    Path("new.csv").write_text("cell,z0,z1\nx,1,2\n")
    refused(relscape("place", "again", "new.csv"), "the points of another map")


def test_a_data_set_with_links(relscape, data_dir, monkeypatch):
    options = ("--label", "class", "--links", "links", "-o", "map")
    done = relscape("cohorts", "--dataset", "cora", *options)
    assert done.code == 0, done.err
    assert rs.Map.load("map").scores["cohort_separation"] > 0.9


# ---------------------------------------------------------------------- move, place, plot


def test_moved_cohorts_take_their_samples_along(relscape, made):
    asked = relscape("move", made, "ale=9,9")
    assert "If ale moved there, each cell would move by" in asked.out
    assert not Path("moved").exists()
    done = relscape("move", made, "ale=9,9", "-o", "moved")
    assert done.code == 0, done.err
    assert "Moved ale of map" in done.out
    assert "next: relscape plot moved" in done.out
    old, new = rs.Map.load(made), rs.Map.load("moved")
    model = revive(old.model_state)
    places = model.prototypes_.copy()
    places[0] = 9, 9
    assert_allclose(new.coordinates("cell"), model.response_ @ places, atol=1e-9)
    assert_allclose(new.coordinates("cohort"), places)
    assert new.provenance["source"] == old.provenance["source"]
    assert new.provenance["moved"] == ["ale"]


def test_new_things_follow_a_move(relscape, cells, made):
    relscape("move", made, "ale=9,9", "-o", "moved")
    header, first = cells.read_text().splitlines()[:2]
    Path("new.csv").write_text(f"{header}\n{first.replace('c0', 'twin')}\n")
    assert relscape("place", "moved", "new.csv", "-o", "grown").code == 0
    group = rs.Map.load("grown").group("cell")
    assert group.ids[-1] == "twin"
    assert_allclose(group.coordinates[-1], rs.Map.load("moved").coordinates("cell")[0], atol=1e-6)
    done = relscape("move", "grown", "ale=8,8", "--json")
    assert "1 cell things ('twin') were placed on the map later" in done.err
    assert done.json["map"] is None
    assert done.json["mean_shift"]["ale"] > 0.5


def test_a_move_on_an_aligned_map_is_in_its_coordinates(relscape, made):
    joint = rs.Map.load(made)
    turned = [
        rs.maps.Group(kind, joint.group(kind).ids, joint.coordinates(kind) @ [[0.0, 3.0], [-3.0, 0.0]] + 1.0)
        for kind in joint.groups
    ]
    joint.align(rs.Map(turned)).save("turned")
    assert relscape("move", "turned", "tea=4,4", "-o", "moved").code == 0
    moved = rs.Map.load("moved")
    assert_allclose(moved.coordinates("cohort")[3], [4, 4], atol=1e-8)
    assert_allclose(moved.coordinates("cohort")[0], turned[1].coordinates[0], atol=1e-8)


def test_new_lines_of_features(relscape, cells, made):
    Path("new.csv").write_text("f_c,cell,f_b,f_a\n3.1,x1,0.2,-0.1\n0.3,x2,0.1,6.2\n")
    done = relscape("place", made, "new.csv", "--json")
    assert done.code == 0, done.err
    near = {name: {n["id"] for n in found} for name, found in done.json["neighbors"].items()}
    cohort = dict(zip(rs.Map.load(made).group("cell").ids, [NAMES[i % 4] for i in range(80)], strict=True))
    for name, own in (("x1", "ale"), ("x2", "cider")):
        assert {cohort.get(other, other) for other in near[name]} == {own}
    frame = pa.table({"cell": ["x1"], "f_a": [-0.1], "f_b": [0.2], "f_c": [3.1]})
    grown = rs.place(rs.Map.load(made), frame)
    assert grown.group("cell").ids[-1] == "x1"


def test_the_picture_shows_cohorts(relscape, made):
    done = relscape("plot", made, "-o", "map.png")
    assert done.code == 0, done.err
    plain = relscape("plot", made, "--color", "type", "-o", "type.png")
    assert plain.code == 0, plain.err
    assert Path("map.png").read_bytes() != Path("type.png").read_bytes()


# ---------------------------------------------------------------------- mistakes


def test_bad_tables(relscape, cells):
    text = cells.read_text()
    bad = Path("bad.csv")
    bad.write_text(text.replace("c5,", "c4,"))
    repeated = relscape("cohorts", bad, "-l", "type", "--id", "cell")
    refused(repeated, "bad.csv", "'c4' at line 6 and line 7")
    refused(relscape("cohorts", bad, "-l", "type", "--strict"), "'cell'", "1 repeat", "--id")
    bad.write_text(text + "c99,1,,3,tea,1990\n")
    refused(relscape("cohorts", bad, "-l", "type"), "bad.csv", "'f_b'", "missing", "line 82")
    bad.write_text(text + "c99,1,2,3x,tea,1990\n")
    refused(relscape("cohorts", bad, "-l", "type"), "bad.csv", "'f_c'", "3x", "line 82")
    bad.write_text("a,b\nx,y\nz,w\n")
    refused(relscape("cohorts", bad), "bad.csv", "no column of numbers")
    bad.write_text("")
    refused(relscape("cohorts", bad), "bad.csv")
    bad.write_text("x,type\n1,a\n2,a\n3,a\n")
    refused(relscape("cohorts", bad, "-l", "type", "-k", 1), "'a'", "two or more cohorts")
    bad.write_text("x,type\n1,\n2,\n3,\n")
    refused(relscape("cohorts", bad, "-l", "type", "-k", 1), "missing")
    assert not Path("maps").exists()


def test_bad_options(relscape, cells):
    run = ("cohorts", cells, "-l", "type")
    refused(relscape("cohorts"), "name at least one file")
    refused(relscape("cohorts", "sells.csv", "-l", "type"), "sells.csv")
    refused(relscape("cohorts", cells, "-l", "typ"), "'typ'", "Did you mean 'type'?", "cells.csv")
    refused(relscape("cohorts", cells, "-l", "f_a"), "--label f_a", "no cohorts")
    refused(relscape(*run, "--id", "type"), "both name")
    refused(relscape(*run, "--features", "g_*"), "'g_*'", "'f_a'")
    refused(relscape(*run, "-v", "E5"), "'E5'", "'E4'")
    refused(relscape(*run, "--alpha", 1.5), "--alpha 1.5", "between 0 and 1")
    refused(relscape(*run, "--alpha", 0), "alpha=0")
    refused(relscape(*run, "--eta", 0.5), "--eta 0.5", "eigen")
    refused(relscape(*run, "-k", 0), "--dimensions 0")
    refused(relscape(*run, "--metric", "cosin"), "'cosin'", "Did you mean 'cosine'?")
    refused(relscape(*run, "--metric", "cosine", "-p", "affinity=cosine"), "--metric cosine")
    refused(relscape(*run, "-p", "alpha=0.2"), "'alpha'")
    refused(relscape(*run, "-p", "n_neighbours=5"), "Did you mean 'n_neighbors'?")
    refused(relscape(*run, "-p", "confidence=sure"), "'sure'")
    refused(relscape(*run, "--rows", "cell"), "columns")
    refused(relscape(*run, "--text", "type", "--features", "f_*"), "--features")
    refused(relscape(*run, "--stop-words", "english"), "--stop-words", "--text")
    refused(relscape(*run, "--kind", "cohort"), "'cohort'", "--kind")
    refused(relscape("cohorts", cells, "--dataset", "smoking"), "not both")
    assert not Path("maps").exists()


@pytest.mark.parametrize(
    "text", ["best", "keep=", "keep=2", "preference=1", "preference=1,b,2", "preference=0,0,0"]
)
def test_bad_choices(relscape, cells, text):
    refused(relscape("cohorts", cells, "-l", "type", "--choose", text), f"--choose {text}", "keep=0.95")
    refused(relscape("cohorts", cells, "-l", "type", "--choose", "keep", "--alpha", 0.5), "--alpha 0.5")


def test_bad_guides(relscape, cells, made):
    run = ("cohorts", cells, "-l", "type", "--features", "f_*", "-o", "other")
    Path("places.csv").write_text("type,x,y\ntea,0,2\nale,2,0\n")
    refused(relscape(*run, "--prototypes", "places.csv"), "places.csv", "'cider', 'mead'")
    Path("places.csv").write_text("type,x\ntea,0\nale,2\n")
    refused(relscape(*run, "--prototypes", "places.csv"), "places.csv", "2 coordinates")
    refused(relscape("cohorts", cells, "--prototypes", "places.csv"), "--label")
    refused(relscape(*run, "--prototypes", "umap"), "'umap'", "'sne'")
    Path("held.csv").write_text("cell,x,y\nc900,0,0\n")
    refused(relscape(*run, "--anchors", "held.csv"), "held.csv", "'c900'")
    Path("held.csv").write_text("cell,x,y\nc1,0,\n")
    refused(relscape(*run, "--anchors", "held.csv"), "held.csv", "'c1'")
    Path("links.csv").write_text("a,b\nx,y\n")
    refused(relscape(*run, "--links", "links.csv"), "links.csv", "none of its 1 links")
    refused(relscape(*run, "--links", "nothing.csv"), "nothing.csv")
    refused(relscape(*run, "--init", "nowhere"), "nowhere")
    refused(relscape(*run, "--init", made, "-k", 3), "--dimensions 2")
    refused(relscape("cohorts", made, "--label", "kind"), "'kind'", "'type'")
    refused(relscape("cohorts", made, "--kind", "cells"), "Did you mean 'cell'?")
    refused(relscape("cohorts", made, "--kind", "cell", "--features", "f_*"), "--features", "is a map")
    assert not Path("other").exists()


def test_bad_moves(relscape, made, pairs):
    refused(relscape("move", made, "ale"), "ale: write a cohort and its new place")
    refused(relscape("move", made, "ale=1"), "2 finite coordinates")
    refused(relscape("move", made, "ale=1,x"), "2 finite coordinates")
    refused(relscape("move", made, "ale=1,nan"), "2 finite coordinates")
    refused(relscape("move", made, "beer=1,2"), "'beer'", "'ale'")
    refused(relscape("move", "nowhere", "ale=1,2"), "nowhere")
    relscape("coembed", pairs, "--rows", "doc", "--columns", "word", "-o", "other")
    refused(relscape("move", "other", "doc=1,2"), "a map of COVA's")


def test_bad_new_things(relscape, made):
    Path("new.csv").write_text("cell,f_a,f_b\nx,1,2\n")
    refused(relscape("place", made, "new.csv"), "new.csv", "'f_c'")
    Path("new.csv").write_text("cell,f_a,f_b,f_c\nx,1,2,\n")
    refused(relscape("place", made, "new.csv"), "new.csv", "'f_c'", "missing", "line 2")
    refused(relscape("place", made, "new.csv", "--rows", "cell", "--columns", "f_a"), "table of features")
    Path("new.csv").write_text("cell,f_a,f_b,f_c\nx,1,2,3\n")
    refused(relscape("place", made, "new.csv", "--kind", "cohort"), "'cell'", "'cohort'")


def test_uneven_units_are_told_of_and_standardised(relscape, cells):
    rows = "".join(f"{i},{a:.4f},{900 * b:.4f},{c:.4f},{t},{y}\n" for i, a, b, c, t, y in lines())
    cells.write_text("cell,f_a,f_b,f_c,type,year\n" + rows)
    run = ("cohorts", cells, "-l", "type", "--features", "f_*")
    plain = relscape(*run, "-o", "plain")
    assert "'f_b' decide who is near whom" in plain.err
    assert "--standardize" in plain.err
    done = relscape(*run, "--standardize", "-o", "map")
    assert done.err == ""
    assert "By 3 features, standardised:" in done.out
    table = np.array([row[1:4] for row in lines()]).round(4)
    table[:, 1] = [round(900 * row[2], 4) for row in lines()]
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    expected = rs.COVA(random_state=0).fit(scaled, [row[4] for row in lines()])
    assert_allclose(rs.Map.load("map").coordinates("cell"), expected.embedding_, atol=1e-7)
    new = np.array([[0.1, 5900.0, 0.2]])
    Path("new.csv").write_text("cell,f_a,f_b,f_c\nx,0.1,5900,0.2\n")
    placed = relscape("place", "map", "new.csv", "-o", "grown", "--json")
    assert placed.json["cohorts"] == {"x": "mead"}
    place = expected.transform((new - table.mean(axis=0)) / table.std(axis=0))
    assert_allclose(rs.Map.load("grown").coordinates("cell")[-1:], place, atol=1e-7)


def test_gaps_are_filled_or_dropped(relscape, cells):
    text = cells.read_text().splitlines(keepends=True)
    a, b = text[3].split(","), text[9].split(",")
    text[3], text[9] = ",".join([a[0], "", *a[2:]]), ",".join([b[0], b[1], "NA", *b[3:]])
    cells.write_text("".join(text))
    run = ("cohorts", cells, "-l", "type", "--features", "f_*", "-o", "map")
    refused(relscape(*run), "2 of 80 lines", "line 4", "'f_a' (1), 'f_b' (1)", "--missing median")
    refused(relscape(*run, "--missing", "mean"), "'mean'", "'median'")
    dropped = relscape(*run, "--missing", "drop", "--json")
    assert dropped.json["sizes"]["cell"] == 78
    assert "2 of 80 lines lack features and were dropped" in dropped.err
    filled = relscape(*run, "--missing", "median", "--standardize", "--json")
    assert filled.json["sizes"]["cell"] == 80
    column = np.array([row[1] for row in lines()]).round(4)
    scaled = revive(rs.Map.load("map").model_state).features_[:, 0]
    assert scaled[2] == pytest.approx(np.median(np.delete(scaled, 2)), abs=1e-9)
    Path("new.csv").write_text("cell,f_a,f_b,f_c\nx,,0.1,0.2\ny,0.1,0.1,0.2\n")
    assert relscape("place", "map", "new.csv", "-o", "grown").code == 0
    median = np.median(np.delete(column, 2))
    Path("told.csv").write_text(f"cell,f_a,f_b,f_c\nx,{float(median)!r},0.1,0.2\n")
    relscape("place", "map", "told.csv", "-o", "told")
    grown, told = (rs.Map.load(name).group("cell") for name in ("grown", "told"))
    assert_allclose(grown.coordinates[grown.places["x"]], told.coordinates[told.places["x"]], atol=1e-6)
    assert relscape("place", "map", "new.csv", "--missing", "drop", "--json").json["placed"] == 1


def test_what_was_placed_is_counted_and_told(relscape, cells, made):
    head, *rest = cells.read_text().splitlines(keepends=True)
    Path("same.csv").write_text(head + "".join(rest))
    done = relscape("place", made, "same.csv")
    assert "Placed 80 × cell, none of them new: put 80 that were on map already" in done.out
    assert "and 60 more" in done.out
    Path("new.csv").write_text(head + rest[0] + rest[1].replace("c1,", "n1,"))
    mixed = relscape("place", made, "new.csv", "-o", "grown")
    assert "Placed 1 × cell, new, and put 1 that was on map already" in mixed.out
    assert rs.Map.load("grown").group("cell").fields["cohort"][-1] == "cider"
    assert relscape("place", made, "new.csv", "--json").json["already_there"] == 1


def test_lines_without_ids_are_new(relscape, cells):
    Path("plain.csv").write_text(
        "".join(row.split(",", 1)[1] for row in cells.read_text().splitlines(keepends=True))
    )
    assert relscape("cohorts", "plain.csv", "-l", "type", "--features", "f_*", "-o", "map").code == 0
    done = relscape("place", "map", "plain.csv", "-o", "grown")
    assert "Placed 80 of 80 × sample" in done.out
    assert len(rs.Map.load("grown").group("sample")) == 160


def test_info_says_what_was_used(relscape, made):
    done = relscape("info", made, "--json")
    assert done.json["learned"]["alpha"] == 0.6
    assert done.json["learned"]["cohorts"] == 4
    told = relscape("info", made).out
    assert "alpha" in told.split("learned")[1]
    assert "f_b" in told


def test_more_mistakes(relscape, cells, made):
    run = ("cohorts", cells, "-l", "type", "--features", "f_*", "-o", "other")
    refused(relscape(*run, "--seed", -1), "--seed", "0", "relscape cohorts --help")
    refused(relscape(*run, "--sed", 1), "--sed", "relscape cohorts --help")
    refused(relscape(*run, "--prototypes", "nofile.csv"), "there is no file 'nofile.csv'")
    Path("places.csv").write_text("type,x,y\ntea,0,2\nale,a,0\nmead,0,-2\ncider,-2,0\n")
    refused(relscape(*run, "--prototypes", "places.csv"), "places.csv", "'x'", "'a' for 'ale'")
    refused(relscape("cohorts", made, "-l", "type", "--standardize", "-o", "other"), "--standardize")
    refused(relscape("move", made, "ale=1,1", "ale=2,2"), "'ale'", "two places")
    assert not Path("other").exists()


def test_excel_and_parquet_read_alike(relscape, cells, made):
    columns = list(zip(*lines(), strict=True))
    names = ("cell", "f_a", "f_b", "f_c", "type", "year")
    rounded = [np.round(c, 4) if k in (1, 2, 3) else list(c) for k, c in enumerate(columns)]
    pq.write_table(pa.table(dict(zip(names, rounded, strict=True))), "cells.parquet")
    relscape("cohorts", "cells.parquet", "-l", "type", "--features", "f_*", "-o", "native")
    first, second = (rs.Map.load(name).coordinates("cell") for name in (made, "native"))
    assert_allclose(first, second, atol=1e-9)


def test_scores_are_those_the_map_carries(relscape, made, cells):
    scores = rs.Map.load(made).scores
    done = relscape("score", made)
    assert done.code == 0, done.err
    for name in ("cohort_separation", "cohort_position", "cohort_neighbors", "neighbor_preservation"):
        assert f"{scores[name]:.3f}" in done.out
    assert f"{scores['neighbor_preservation_chance']:.3f} by chance" in done.out
    assert relscape("score", made, cells, "--json").json == pytest.approx(scores)
