"""``relscape project`` and ``init``: maps from a project file, and project files from tables."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

import relscape as rs
from relscape.project.study import read_study
from relscape.project.study_draft import draft_study
from relscape.project.study_writing import written

FILE = """
[kinds.image]
table = "images.csv"
features = ["f_*"]
label = "album"

[kinds.tag]

[relations.tagged]
table = "tags.csv"
from = "image"
to = "tag"

[models.photos]
method = "projection"
regularization = 0.01
"""


def write_tables(warmth, rng) -> None:
    """Write images whose first feature is how warm they are, and the tags of those with an even number."""
    images = [f"{i:03d},{'ab'[i % 2]},{w:.5f},{rng.normal():.5f}" for i, w in enumerate(warmth)]
    Path("images.csv").write_text("\n".join(["image,album,f_warm,f_noise", *images]) + "\n")
    said = [f"{i:03d},{'sunny' if w > 0 else 'frosty'}" for i, w in enumerate(warmth) if i % 2 == 0]
    Path("tags.csv").write_text("\n".join(["image,tag", *said]) + "\n")
    Path("new.csv").write_text("image,f_warm,f_noise\nhot,3,0\ncold,-3,0\n")


@pytest.fixture
def study(relscape, rng) -> Path:
    """A project file with its tables, in the directory where commands run."""
    write_tables(rng.normal(size=80), rng)
    Path("relscape.toml").write_text(FILE)
    return Path("relscape.toml")


def refused(done, *parts):
    assert done.code == 1, done.err
    assert done.out == ""
    assert done.err.startswith("error: ")
    for part in parts:
        assert part in done.err, done.err


# ---------------------------------------------------------------------- maps


def test_a_map_of_all_kinds(relscape, study):
    done = relscape("project", "-k", 1)
    assert done.code == 0, done.err
    assert "80 × image" not in done.err  # no progress in a pipe
    assert "82 things of 2 kinds in 1 dimension: maps/photos" in done.out
    assert "Strength of the axis: 0." in done.out
    assert "The guidance falls into 2 separate parts" in done.out
    assert "relscape plot maps/photos --color album" in done.out
    joint = rs.Map.load("maps/photos")
    assert {kind: len(joint.group(kind)) for kind in joint.groups} == {"image": 80, "tag": 2}
    assert joint.parameters["regularization"] == 0.01
    assert joint.relations["tagged"].matrix.nnz == 40
    assert set(joint.scores["tagged"]) >= {"closest_half", "ndcg", "guess_ndcg"}
    warm = np.loadtxt("images.csv", delimiter=",", skiprows=1, usecols=2)
    sunny, frosty = joint.coordinates("tag")[:, 0][[1, 0]]
    assert abs(np.corrcoef(warm, joint.coordinates("image")[:, 0])[0, 1]) > 0.95
    assert np.sign(sunny) != np.sign(frosty)


def test_the_result_for_machines(relscape, study):
    done = relscape(
        "project", study, "--json", "-o", "maps/here", "--ridge", 0.5, "--constraint", "reference"
    )
    told = done.json
    assert told["map"] == "maps/here"
    assert told["sizes"] == {"image": 80, "tag": 2}
    assert told["features"] == {"image": 2, "tag": None}
    assert told["parameters"]["regularization"] == 0.5
    assert told["parameters"]["constraint"] == "reference"
    assert len(told["strengths"]) == 2
    assert told["guidance"]["tagged"]["similar_pairs"] == 40
    assert told["guidance_components"] == 2


def test_settings_chosen_by_pairs_kept_aside(relscape, study):
    told = relscape("project", "--tune", "-k", 1, "--json").json
    assert {trial["n_components"] for trial in told["tried"]} == {1}
    assert len(told["tried"]) == 6
    assert told["tried"][0]["ndcg"] == max(trial["ndcg"] for trial in told["tried"])
    assert told["parameters"]["regularization"] == told["tried"][0]["regularization"]
    done = relscape("project", "--tune", "--ridge", 0.1)
    assert "Chosen by where image kept aside find their tag (five folds): ridge 0.1, " in done.out
    assert rs.Map.load("maps/photos").provenance["chosen"]["among"] == 4


def test_another_folder_and_model(relscape, study):
    Path("sub").mkdir()
    for name in ("relscape.toml", "images.csv", "tags.csv"):
        Path(name).rename(Path("sub") / name)
    with Path("sub/relscape.toml").open("a") as stream:
        stream.write('[models.line]\nmethod = "projection"\nn_components = 1\n')
    refused(relscape("project", "sub"), "2 projections, 'photos', 'line'", "--model")
    done = relscape("project", "sub", "--model", "line", "--json")
    assert done.json["map"] == "maps/line"
    assert len(done.json["strengths"]) == 1


def test_asking_and_drawing_such_a_map(relscape, study):
    assert relscape("project").code == 0
    near = relscape("neighbors", "maps/photos", "tag:sunny", "-k", 3, "--json").json
    assert len(near["tag:sunny"]["image"]) == 3
    assert relscape("info", "maps/photos", "--json").json["relations"]["tagged"]["pairs"] == 40
    assert relscape("score", "maps/photos", "--json").json["tagged"]["similar_pairs"] == 40
    assert relscape("plot", "maps/photos", "--color", "album", "--links").code == 0
    assert Path("maps/photos.png").stat().st_size > 10_000


# ---------------------------------------------------------------------- newcomers


def test_new_things_by_their_columns(relscape, study):
    assert relscape("project", "-k", 1).code == 0
    done = relscape("place", "maps/photos", "new.csv", "-o", "maps/grown", "--json")
    assert done.json["placed"] == 2
    grown = rs.Map.load("maps/grown")
    model = rs.load_model("maps/photos/model")
    expected = model.transform({"image": [[3.0, 0.0], [-3.0, 0.0]]})["image"]
    np.testing.assert_allclose(grown.coordinates("image")[-2:], expected)
    assert grown.neighbors("image:hot", "tag", 1)[0].id == "sunny"
    assert grown.neighbors("image:cold", "tag", 1)[0].id == "frosty"
    Path("turned.csv").write_text("f_noise,note,image,f_warm\n0,x,hot,3\n0,y,cold,-3\n")
    assert relscape("place", "maps/photos", "turned.csv", "-o", "maps/turned").code == 0
    np.testing.assert_allclose(rs.Map.load("maps/turned").coordinates("image")[-2:], expected)
    refused(
        relscape("place", "maps/photos", "new.csv", "--kind", "tag"),
        "--kind tag",
        "guidance alone",
        "'image'",
    )
    refused(
        relscape("place", "maps/photos", "new.csv", "--kind", "tog"), "no kind 'tog'", "Did you mean 'tag'"
    )
    Path("less.csv").write_text("image,f_warm\nx,1\n")
    refused(relscape("place", "maps/photos", "less.csv"), "'f_noise'", "less.csv")


def test_new_things_with_gaps(relscape, study):
    text = Path("images.csv").read_text()
    Path("images.csv").write_text(text + "x1,a,,0.5\n")
    Path("relscape.toml").write_text(FILE.replace('label = "album"', 'missing = "median"'))
    done = relscape("project", "-k", 1)
    assert "1 of 81 image things lack features and were filled with medians" in done.err
    Path("gaps.csv").write_text("f_noise,image,f_warm\n0,y,\n")
    assert relscape("place", "maps/photos", "gaps.csv", "-o", "maps/grown").code == 0
    warm = np.loadtxt("images.csv", delimiter=",", skiprows=1, usecols=2, max_rows=80)
    model = rs.load_model("maps/photos/model")
    expected = model.transform({"image": [[np.median(warm), 0.0]]})["image"]
    np.testing.assert_allclose(rs.Map.load("maps/grown").coordinates("image")[-1:], expected)
    refused(relscape("place", "maps/photos", "gaps.csv", "--missing", "drop"), "every line lacks a feature")


@pytest.mark.parametrize("form", ["text", "pairs"])
def test_new_things_by_their_words(relscape, rng, form):
    """Words of a column, or of a table of pairs, are counted and scaled as those of the map were."""
    words = {"cat": ["purr", "milk", "fur"], "ship": ["sail", "sea", "mast"]}
    docs = [(f"d{i}", topic, rng.choice(words[topic], 4)) for i in range(20) for topic in words]
    lines = [f"{name}{topic},{topic},{' '.join(said)}" for name, topic, said in docs]
    Path("docs.csv").write_text("\n".join(["doc,topic,said", *lines]) + "\n")
    counts = [f"{name}{topic},{word},1" for name, topic, said in docs for word in said]
    Path("words.csv").write_text("\n".join(["doc,word,n", *counts]) + "\n")
    file = '[kinds.doc]\ntable = "docs.csv"\n[kinds.topic]\n'
    file += '[relations.about]\ntable = "docs.csv"\nfrom = "doc"\nto = "topic"\n'
    if form == "text":
        file = file.replace("[kinds.topic]", 'text = "said"\n[kinds.topic]')
        Path("new.csv").write_text("doc,said\nmoggy,purr purr milk zebra\nsloop,sail sea\n")
    else:
        file = file.replace("[kinds.topic]", 'features_from = "words"\n[kinds.word]\n[kinds.topic]')
        file += '[relations.words]\ntable = "words.csv"\nfrom = "doc"\nto = "word"\nweight = "n"\n'
        Path("new.csv").write_text(
            "doc,word,n\nmoggy,purr,2\nmoggy,milk,1\nmoggy,zebra,1\nsloop,sail,1\nsloop,sea,1\n"
        )
    Path("relscape.toml").write_text(file)
    assert relscape("project", "-k", 1, "-o", "maps/docs").code == 0
    done = relscape("place", "maps/docs", "new.csv", "-o", "maps/grown")
    assert done.code == 0, done.err
    grown = rs.Map.load("maps/grown")
    names = sorted({word for topic in words.values() for word in topic})
    logs = {"moggy": {"purr": np.log(3), "milk": np.log(2)}, "sloop": {"sail": np.log(2), "sea": np.log(2)}}
    rows = np.array([[said.get(word, 0.0) for word in names] for said in logs.values()])
    model = rs.load_model("maps/docs/model")
    expected = model.transform({"doc": rows / np.linalg.norm(rows, axis=1, keepdims=True)})["doc"]
    np.testing.assert_allclose(grown.coordinates("doc")[-2:], expected, atol=1e-12)
    assert grown.neighbors("doc:moggy", "topic", 1)[0].id == "cat"


# ---------------------------------------------------------------------- mistakes


def test_mistakes_in_the_file(relscape, study):
    Path("relscape.toml").write_text(FILE.replace('from = "image"', "from = image"))
    refused(relscape("project"), "relscape.toml, line 11 (from = image)")
    Path("relscape.toml").write_text(FILE.replace("images.csv", "imges.csv"))
    refused(relscape("project"), "relscape.toml, [kinds.image] table", "Did you mean 'images.csv'")
    Path("relscape.toml").write_text(FILE + "constraint = 'jiont'\n")
    refused(relscape("project"), "relscape.toml, [models.photos]", "Did you mean 'joint'")
    Path("relscape.toml").write_text(FILE + "n_components = 0\n")
    refused(relscape("project"), "relscape.toml, [models.photos]", "n_components=0")
    Path("relscape.toml").write_text(FILE + "[guidance]\n")
    refused(relscape("project"), "nothing guides a projection")
    assert not Path("maps").exists()


def test_mistakes_on_the_command_line(relscape, study):
    refused(relscape("project", "other.toml"), "'other.toml'", "relscape init FILES")
    refused(relscape("project", "--model", "fotos"), "no model 'fotos'", "Did you mean 'photos'")
    refused(relscape("project", "--constraint", "none"), "--constraint none: write joint or reference")
    refused(relscape("project", "--ridge", "-1"), "--ridge", "greater than or equal to 0")
    refused(relscape("project", "-k", "0"), "--dimensions", "greater than or equal to 1")
    refused(relscape("project", "-p", "solvr=dense"), "no parameter 'solvr'", "Did you mean 'solver'")
    refused(relscape("project", "--tune", "-k", 2, "--ridge", 1), "both are given")
    Path("relscape.toml").unlink()
    refused(relscape("project"), "no project file 'relscape.toml'")


# ---------------------------------------------------------------------- drafts


def test_a_draft_that_can_be_mapped_right_away(relscape, study):
    study.unlink()
    done = relscape("init", "images.csv", "tags.csv")
    assert done.code == 0, done.err
    assert "image to tag" in done.out
    assert done.out.rstrip().endswith("relscape run")
    drafted = read_study("relscape.toml")
    assert drafted.kinds["image"].features == ("f_warm", "f_noise")
    assert drafted.kinds["image"].label == "album"
    assert drafted.guidance == {"tags": 1.0}
    made = relscape("project", "--json")
    assert made.json["sizes"] == {"image": 80, "tag": 2}
    refused(relscape("init", "images.csv", "tags.csv"), "relscape.toml is there already", "--force")
    assert (
        relscape("init", "images.csv", "--force", "--json").json["relations"]["image_album"]["to"] == "album"
    )
    assert relscape("project", "--json").json["sizes"] == {"image": 80, "album": 2}


def test_a_draft_elsewhere_has_paths_from_there(relscape, study):
    assert relscape("init", "images.csv", "tags.csv", "-o", "plans/photos.toml").code == 0
    assert tomllib.loads(Path("plans/photos.toml").read_text())["kinds"]["image"]["table"] == "../images.csv"
    assert relscape("project", "plans/photos.toml", "--json").json["sizes"] == {"image": 80, "tag": 2}


def test_what_cannot_be_drafted(relscape, study):
    refused(relscape("init", "nothing.csv", "-o", "x.toml"), "there is no file 'nothing.csv'")
    Path("numbers.csv").write_text("a,b\n0.5,0.5\n0.25,0.5\n")
    refused(relscape("init", "numbers.csv", "-o", "x.toml"), "nothing here can be mapped", "numbers.csv")
    Path("picture.png").write_bytes(b"\x89PNG")
    refused(relscape("init", "picture.png", "-o", "x.toml"), "picture.png", "Known endings")
    assert not Path("x.toml").exists()
    done = relscape("init", "images.csv", "tags.csv", "numbers.csv", "-o", "x.toml")
    assert "numbers.csv is left out" in done.err


def drafted(**tables: str):
    for name, content in tables.items():
        Path(f"{name}.csv").write_text(content)
    draft = draft_study([f"{name}.csv" for name in tables])
    Path("draft.toml").write_text(written(draft, Path()))
    return read_study("draft.toml")


@pytest.mark.usefixtures("relscape")
def test_what_a_draft_makes_of_tables():
    study = drafted(
        cities="id,name,country,latitude,longitude\n1,Rome,it,41.9,12.5\n2,Oslo,no,59.9,10.7\n3,Bari,it,41.1,16.9\n"
        "4,Bergen,no,60.4,5.3\n",
        flights="from,to,weekly\n1,2,7\n1,3,5\n2,3,1\n4,1,2\n3,4,2\n",
    )
    city = study.kinds["city"]
    assert (city.id, city.title, city.label, city.features) == (
        "id",
        "name",
        "country",
        ("latitude", "longitude"),
    )
    flights = study.relations["flights"]
    assert (flights.source, flights.target, flights.weight) == ("city", "city", "weekly")
    assert (flights.source_column, flights.target_column) == ("from", "to")


@pytest.mark.usefixtures("relscape")
def test_columns_that_name_things_of_another_table():
    study = drafted(
        papers="paper,venue,abstract\np1,icml,"
        + "a long text about learning with kernels and margins\np2,nips,"
        + "another long text about neurons that fire now and then\np3,icml,"
        + "a third long text about kernels and margins and neurons too\n",
        venues="venue,rank\nicml,1\nnips,2\nuai,3\n",
    )
    assert study.kinds["paper"].text.column == "abstract"
    venue = study.relations["venue"]
    assert (venue.source, venue.target, venue.source_column, venue.target_column) == (
        "paper",
        "venue",
        "paper",
        "venue",
    )


@pytest.mark.usefixtures("relscape")
def test_gaps_and_patterns_in_a_draft():
    rows = [
        f"g{i},{','.join(str(i + j / 7) for j in range(6))},{'' if i == 3 else i * 0.5}" for i in range(12)
    ]
    study = drafted(
        genes="\n".join(["gene,s1,s2,s3,s4,s5,s6,mass", *rows]) + "\n",
        found="gene,path:way\n" + "".join(f"g{i},w{i % 3}\n" for i in range(12)),
    )
    assert study.kinds["gene"].features == ("s*", "mass")
    assert study.kinds["gene"].missing == "median"
    assert study.relations["found"].target == "path_way"
    assert study.relations["found"].target_column == "path:way"


@pytest.mark.usefixtures("relscape")
def test_contents_become_features_where_classes_guide():
    topics = [f"d{i},{'cats' if i % 2 else 'ships'},{'en' if i < 4 else 'fr'}" for i in range(8)]
    counts = [f"d{i},w{(i * 7 + j) % 30},{j + 1}" for i in range(8) for j in range(12)]
    study = drafted(
        docs="\n".join(["doc,topic,language", *topics]) + "\n",
        words="\n".join(["doc,word,n", *counts, "d7,null,1", "d7,nan,1"]) + "\n",
    )
    assert study.kinds["doc"].features_from == "words"
    assert study.relations["words"].weight == "n"
    assert study.kinds["doc"].label == "topic"
    assert study.guidance == {"doc_topic": 1.0}
