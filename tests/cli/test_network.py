"""``relscape network``: fitting from every form of contents, suggesting, scoring, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import relscape as rs
from relscape.models.registry import revive
from relscape.sources.scaling import measure, standardized

TOPICS = (
    "cat dog mouse horse cow hen",
    "bread butter jam honey cheese milk",
    "oak elm ash birch fir yew",
)
QUICK = ("-k", 3, "--perplexity", 4, "-p", "max_iterations=40", "-o", "map")


def refused(done, *parts):
    assert done.code == 1
    assert done.out == ""
    assert "error: " in done.err
    for part in parts:
        assert part in done.err, done.err


def documents(n=24):
    """Ids, classes and texts of documents on three topics, dealt out in turn."""
    rng = np.random.default_rng(3)
    for i in range(n):
        words = TOPICS[i % 3].split()
        yield (
            f"d{i:02}",
            "abc"[i % 3],
            " ".join([*rng.choice(words, 12), rng.choice(["and", "or"])]),
        )


def linked(n=24):
    """Links of every document to the next two of its topic."""
    return [(f"d{i:02}", f"d{(i + step) % n:02}") for i in range(n) for step in (3, 6)]


@pytest.fixture
def files(relscape):
    """Texts, their words as pairs, a table of features, and links, in the working directory."""
    docs = [*documents()]
    texts = "".join(f"{i},{c},{t}\n" for i, c, t in docs)
    Path("docs.csv").write_text("doc,class,abstract\n" + texts)
    counts = {(i, w): t.split().count(w) for i, _, t in docs for w in t.split()}
    Path("words.csv").write_text("doc,word,n\n" + "".join(f"{i},{w},{n}\n" for (i, w), n in counts.items()))
    vocabulary = sorted({word for _, word in counts})
    lines = [",".join([i, c, *(str(counts.get((i, w), 0)) for w in vocabulary)]) for i, c, _ in docs]
    Path("table.csv").write_text(",".join(["doc", "class", *vocabulary]) + "\n" + "\n".join(lines) + "\n")
    Path("links.csv").write_text("from,to\n" + "".join(f"{i},{j}\n" for i, j in linked()))
    return relscape


@pytest.fixture
def made(files):
    done = files("network", "docs.csv", "links.csv", "--text", "abstract", "--id", "doc", *QUICK)
    assert done.code == 0, done.err
    return Path("map")


# ---------------------------------------------------------------------- fitting


def test_texts(files):
    done = files("network", "docs.csv", "links.csv", "--text", "abstract", "--id", "doc", *QUICK)
    assert done.code == 0, done.err
    assert "DocumentNetwork: 24 × doc and 48 links in 3 dimensions: map" in done.out
    assert "next: relscape network suggest map doc:d00  or  relscape plot map --links" in done.out
    joint = rs.Map.load("map")
    links = joint.relations["links"].matrix
    at = {name: place for place, name in enumerate(joint.group("doc").ids)}
    assert {(i, j) for i, j in zip(*links.nonzero(), strict=True)} == {(at[i], at[j]) for i, j in linked()}


def test_the_command_fits_what_the_estimator_does(files, made):
    data = rs.read_text("docs.csv", "abstract", "doc")
    options = {"perplexity": 4, "row_normalize": True, "max_iterations": 40, "random_state": 0}
    model = rs.DocumentNetwork(3, **options).fit(data, linked())
    assert_allclose(rs.Map.load(made).coordinates("doc"), model.embedding_, atol=1e-9)


def test_all_forms_of_contents_agree(files, made):
    """Texts, pairs and a table of counts say the same, so their maps are the same."""
    forms = {
        "pairs": ("words.csv", "links.csv", "--rows", "doc", "--columns", "word", "--weight", "n"),
        "beside": ("docs.csv", "links.csv", "--words", "words.csv"),
        "table": ("table.csv", "links.csv", "--row-normalize"),
    }
    expected = rs.Map.load(made)
    order = {name: place for place, name in enumerate(expected.group("doc").ids)}
    for name, arguments in forms.items():
        done = files("network", "fit", *arguments, *QUICK[:-1], name)
        assert done.code == 0, done.err
        group = rs.Map.load(name).group("doc")
        places = expected.coordinates("doc")[[order[i] for i in group.ids]]
        assert_allclose(
            np.linalg.norm(group.coordinates[0] - group.coordinates, axis=1),
            np.linalg.norm(places[0] - places, axis=1),
            atol=0.05,
        )
        if name != "pairs":
            assert group.fields["class"].tolist() == ["abc"[int(i[1:]) % 3] for i in group.ids]


def test_columns_of_links_and_both_ways(files):
    rows = "".join(f"1999,{j},{i}\n" for i, j in linked())
    Path("cites.csv").write_text("year,cited,citing\n" + rows)
    text = ("--text", "abstract", "--id", "doc")
    assert (
        files(
            "network", "docs.csv", "cites.csv", "--source", "citing", "--target", "cited", *text, *QUICK
        ).code
        == 0
    )
    out = rs.Map.load("map").relations["links"].matrix
    plain = files("network", "docs.csv", "links.csv", *text, *QUICK)
    assert plain.code == 0
    assert (out != rs.Map.load("map").relations["links"].matrix).nnz == 0
    both = files("network", "docs.csv", "links.csv", "--undirected", "--json", *text, *QUICK)
    assert both.json["links"] == 96
    matrix = rs.Map.load("map").relations["links"].matrix
    assert (matrix != matrix.T).nnz == 0


@pytest.mark.parametrize("undirected", [False, True])
def test_links_are_held_out(files, undirected):
    options = ("--text", "abstract", "--id", "doc", "--hold-out", 0.25, "--seed", 4, *QUICK)
    done = files(
        "network", "docs.csv", "links.csv", *options, *(["--undirected"] if undirected else []), "--json"
    )
    assert done.code == 0, done.err
    total = 96 if undirected else 48
    scores = done.json["scores"]["held_out"]
    assert scores["n_links"] + done.json["links"] == total
    assert scores["n_links"] == total // 4
    assert scores["filtered"]["mean_rank"] <= scores["mean_rank"] < 12
    kept = rs.Map.load("map").relations["links"].matrix
    if undirected:
        assert (kept != kept.T).nnz == 0
    told = files("network", "docs.csv", "links.csv", *options)
    assert "12 links that were kept aside stand among all 23 others" in told.out
    assert "The map is made without them" in told.out
    assert "filtered" in told.out


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("links", "LinkOnly"),
        ("contents", "ContentOnly"),
        ("rtm", "RTM"),
        ("cesna", "CESNA"),
        ("spml", "SPML"),
    ],
)
def test_other_methods(files, method, name):
    quick = {"links": ("max_iterations=20",), "rtm": ("n_sweeps=10",), "spml": ("n_steps=20",)}
    given = [part for setting in quick.get(method, ()) for part in ("-p", setting)]
    done = files("network", "table.csv", "links.csv", "-m", method, "-k", 3, *given, "-o", "map", "--json")
    assert done.code == 0, done.err
    assert done.json["model"] == name
    assert 1 < rs.Map.load("map").n_components <= 3
    assert files("network", "suggest", "map", "doc:d00", "-n", 4, "--json").code == 0


def test_links_alone(files):
    done = files("network", "links.csv", "-m", "links", "-k", 2, "-p", "max_iterations=20")
    assert done.code == 0, done.err
    assert "LinkOnly: 24 × document and 48 links in 2 dimensions: maps/links" in done.out
    assert len(files("network", "suggest", "maps/links", "d03", "--json").json["suggestions"]["d03"]) == 10
    refused(files("network", "suggest", "maps/links", "docs.csv"), "links alone")


def test_a_data_set_and_direction(relscape):
    options = ("--direction", "in", "-k", 4, "-p", "max_iterations=5", "--layout", "pca", "-o", "map")
    done = relscape("network", "--dataset", "stdlib", *options)
    assert done.code == 0, done.err
    joint = rs.Map.load("map")
    assert joint.parameters["direction"] == "in"
    assert "chapter" in joint.group("module").fields
    told = relscape("network", "suggest", "map", "module:json", "-n", 2)
    assert "module:json may be linked to by" in told.out
    Path("new.csv").write_text("module,word\nmine,socket\nmine,server\nmine,address\n")
    told = relscape("network", "suggest", "map", "new.csv", "-n", 2)
    assert "mine may link to" in told.out, told.err


# ---------------------------------------------------------------------- asking


def test_missing_links_of_a_document(files, made):
    done = files("network", "suggest", made, "doc:d00", "-n", 3)
    assert done.code == 0, done.err
    assert "doc:d00 may link to" in done.out
    model = revive(rs.Map.load(made).model_state)
    told = files("network", "suggest", made, "doc:d00", "d07", "-n", 3, "--json").json["suggestions"]
    assert [link["id"] for link in told["doc:d00"]] == [link.id for link in model.predict_links("d00", 3)]
    assert not {"d03", "d06"} & {link["id"] for link in told["doc:d00"]}
    assert {int(link["id"][1:]) % 3 for link in told["d07"]} == {1}
    shown = files("network", "suggest", made, "doc:d00", "--known", "-n", 23)
    assert shown.out.count("known") == 2


def test_documents_can_be_asked_either_way(files, made):
    """The answer to the other question is the same model's, and leaves out the links of that direction."""
    told = files("network", "suggest", made, "d00", "--incoming", "-n", 23, "--json").json
    assert told["direction"] == "in"
    sources = {source for source, target in linked() if target == "d00"}
    assert sources and {link["id"] for link in told["suggestions"]["d00"]}.isdisjoint(sources)
    assert "d00 may be linked to by" in files("network", "suggest", made, "d00", "--incoming").out
    assert "d00 may link to" in files("network", "suggest", made, "d00", "--outgoing").out


def test_other_columns_of_texts_are_kept(files):
    lines = Path("docs.csv").read_text().splitlines()
    years = [f"{line},{2000 + at}" for at, line in enumerate(lines[1:])]
    Path("docs.csv").write_text("\n".join([f"{lines[0]},year", *years]) + "\n")
    done = files("network", "docs.csv", "links.csv", "--text", "abstract", "--id", "doc", *QUICK)
    assert done.code == 0, done.err
    group = rs.Map.load("map").group("doc")
    years_of = dict(zip(group.ids.tolist(), group.fields["year"], strict=True))
    assert "abstract" not in group.fields
    assert all(years_of[line.partition(",")[0]] == 2000 + at for at, line in enumerate(lines[1:]))


def test_held_out_links_stand_beside_simple_rankings(files):
    options = ("--text", "abstract", "--id", "doc", "--hold-out", "0.2")
    done = files("network", "docs.csv", "links.csv", *options, *QUICK)
    assert "\ncontents alone " in done.out
    assert "\npopularity " in done.out
    scores = rs.Map.load("map").scores["held_out"]
    model = rs.ContentOnly().fit(rs.read_text("docs.csv", "abstract", "doc"), kept_of(rs.Map.load("map")))
    held_out = [pair for pair in linked() if pair not in set(kept_of(rs.Map.load("map")))]
    assert scores["contents alone"]["mean_rank"] == pytest.approx(model.rank(held_out).mean_rank)
    targets = [target for _, target in kept_of(rs.Map.load("map"))]
    counts = {name: targets.count(name) for name in rs.Map.load("map").group("doc").ids}
    ranks = []
    for source, target in held_out:
        others = [count for name, count in counts.items() if name not in (source, target)]
        before, level = (np.array(others) > counts[target]).sum(), (np.array(others) == counts[target]).sum()
        ranks.append(1 + before + level / 2)
    assert scores["popularity"]["mean_rank"] == pytest.approx(np.mean(ranks))


def kept_of(joint):
    ids = joint.group("doc").ids
    return [(ids[i], ids[j]) for i, j in zip(*joint.relations["links"].matrix.nonzero(), strict=True)]


def test_a_single_new_text_needs_no_id(files, made):
    Path("new.csv").write_text("abstract\nbread jam honey and jam\n")
    told = files("network", "suggest", made, "new.csv", "-n", 4, "--json")
    assert told.code == 0, told.err
    ((_, found),) = told.json["suggestions"].items()
    assert {int(link["id"][1:]) % 3 for link in found} == {1}
    assert files("place", made, "new.csv", "-o", "grown").code == 0
    refused(files("network", "suggest", made, "new.csv", "--id", "doc"), "doc")


def test_a_name_on_the_map_is_a_document_whatever_it_looks_like(files):
    """Titles make ids: one with a question mark, one that is a file's name, too."""
    for name in ("docs.csv", "links.csv"):
        text = Path(name).read_text().replace("d00", "Why 3?").replace("d01", "notes.csv")
        Path(name).write_text(text)
    Path("notes.csv").write_text("doc,abstract\nn1,bread jam\n")
    files("network", "docs.csv", "links.csv", "--text", "abstract", "--id", "doc", *QUICK)
    for asked in ("Why 3?", "doc:Why 3?", "notes.csv"):
        done = files("network", "suggest", "map", asked, "--json")
        assert done.code == 0, done.err
        assert list(done.json["suggestions"]) == [asked]


def test_new_documents(files, made):
    Path("new.csv").write_text("doc,abstract\nn1,bread jam honey and jam\nn2,elm oak oak ash and yew\n")
    told = files("network", "suggest", made, "new.csv", "-n", 4, "--json").json
    assert told["direction"] == "out"
    found = {name: {int(link["id"][1:]) % 3 for link in links} for name, links in told["suggestions"].items()}
    assert found == {"n1": {1}, "n2": {2}}
    incoming = files("network", "suggest", made, "new.csv", "-n", 4, "--incoming")
    assert "n1 may be linked to by" in incoming.out
    assert "next: relscape place map new.csv" in incoming.out
    placed = files("place", made, "new.csv", "-o", "grown", "--json")
    assert placed.code == 0, placed.err
    assert int(placed.json["neighbors"]["n2"][0]["id"][1:]) % 3 == 2
    assert rs.Map.load("grown").relations["links"].matrix.shape == (26, 26)


def test_standardised_features_stay_so_for_newcomers(files):
    done = files("network", "table.csv", "links.csv", "--standardize", *QUICK)
    assert done.code == 0, done.err
    table = [line.split(",") for line in Path("table.csv").read_text().splitlines()]
    Path("new.csv").write_text("\n".join(",".join(row[:1] + row[2:]) for row in (table[0], table[5])) + "\n")
    X = np.array([row[2:] for row in table[1:]], float)
    plain = rs.DocumentNetwork(3, perplexity=4, max_iterations=40, random_state=0)
    plain.fit(standardized(X, measure(X)), [(int(i[1:]), int(j[1:])) for i, j in linked()])
    expected = plain.suggest(standardized(X[4:5], measure(X)), top=5)[0]
    told = files("network", "suggest", "map", "new.csv", "-n", 5, "--json").json["suggestions"]
    assert [int(link["id"][1:]) for link in told["d04"]] == [int(link.id) for link in expected]


def test_score(files, made):
    Path("test.csv").write_text("from,to\nd00,d09\nd01,d13\nd05,d04\nd00,d03\n")
    done = files("network", "score", made, "test.csv")
    assert done.code == 0, done.err
    assert "Ranks are among 23 other documents, realistic where scores tie; 12 is chance." in done.out
    assert "1 of the 4 links are ones that the map was made from" in done.err
    told = files("network", "score", made, "test.csv", "--json").json
    model = revive(rs.Map.load(made).model_state)
    report = model.rank([("d00", "d09"), ("d01", "d13"), ("d05", "d04"), ("d00", "d03")])
    assert told["mean_rank"] == report.mean_rank
    assert told["filtered"]["mrr"] == report.filtered.mrr
    assert told["candidates"] == 23
    narrow = files("network", "score", made, "test.csv", "--filtered", "--ties", "pessimistic", "--json").json
    assert narrow["mean_rank"] >= told["filtered"]["mean_rank"]
    assert "filtered" not in narrow
    shown = files("network", "score", made, "test.csv", "--filtered")
    assert "raw" not in shown.out
    refused(files("score", made), "network score")


def test_links_are_drawn(files, made):
    assert files("plot", made, "--links", "-o", "map.svg").code == 0
    assert "lines are links: 48" in Path("map.svg").read_text()
    Path("pairs.csv").write_text("doc,word,n\na,x,1\na,y,2\nb,x,3\nb,z,1\nc,y,1\nc,z,2\n")
    assert files("coembed", "pairs.csv", "--rows", "doc", "--columns", "word", "-k", 1).code == 0
    refused(files("plot", "maps/pairs", "--links"), "no relation between the kinds")


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("docs.csv",), ("name two files", "--dataset")),
        (("docs.csv", "nowhere.csv"), ("nowhere.csv",)),
        (("nowhere.csv", "links.csv"), ("nowhere.csv",)),
        (("docs.csv", "links.csv"), ("no column of numbers", "--text")),
        (("table.csv", "links.csv", "--source", "to", "--target", "to"), ("'to'", "two columns", "--source")),
        (("table.csv", "links.csv", "--target", "from"), ("'from'", "two columns")),
        (("table.csv", "links.csv", "--source", "sourse"), ("sourse", "links.csv")),
        (("table.csv", "links.csv", "-m", "magic"), ("magic", "network")),
        (("table.csv", "links.csv", "--direction", "up"), ("no direction 'up'",)),
        (("table.csv", "links.csv", "--layout", "spiral"), ("spiral", "pca")),
        (("table.csv", "links.csv", "--hold-out", "2"), ("--hold-out 2", "between 0 and 1")),
        (("table.csv", "links.csv", "-m", "rtm", "--perplexity", "5"), ("--perplexity", "rtm")),
        (("table.csv", "links.csv", "-k", "0"), ("n_components",)),
        (("table.csv", "links.csv", "-p", "margins=1"), ("margins", "margin")),
        (("table.csv", "links.csv", "-p", "perplexity=3", "--perplexity", "4"), ("perplexity",)),
        (("docs.csv", "links.csv", "--words", "words.csv", "--text", "abstract"), ("--text", "--words")),
        (("docs.csv", "links.csv", "--words", "links.csv"), ("none of the 24 documents",)),
        (("table.csv", "links.csv", "--dataset", "stdlib"), ("not both",)),
        (("--dataset", "stdlib", "--source", "a"), ("--source", "stdlib")),
        (("--dataset", "smoking"), ("0 relations within one kind",)),
        (("--dataset", "stlib"), ("stlib", "stdlib")),
    ],
)
def test_bad_options(files, arguments, parts):
    if arguments[-1] == "links.csv" and "--words" in arguments:
        Path("links.csv").write_text("from,to\nx1,x2\nx2,x3\n")
    refused(files("network", *arguments, "-o", "map"), *parts)
    assert not Path("map").exists()


@pytest.mark.parametrize(
    ("links", "parts"),
    [
        ("from,to\nx1,x2\nx2,x3\n", ("links.csv", "none of its 2 links", "'x1'", "'d00'")),
        ("from,to\n", ("links.csv", "no rows")),
        ("from,to\nd01,d01\n", ("links.csv", "from a document to itself")),
        ("from\nd01\n", ("links.csv", "one column")),
        ("from,to\nd01,\nd02,d03\n", ("links.csv", "to")),
    ],
)
def test_bad_links(files, links, parts):
    Path("links.csv").write_text(links)
    refused(files("network", "table.csv", "links.csv", *QUICK), *parts)


def test_links_that_are_left_out_are_told(files):
    with Path("links.csv").open("a") as table:
        table.write("d01,elsewhere\nd02,d02\n")
    done = files("network", "table.csv", "links.csv", *QUICK)
    assert "2 of 50 links are left out" in done.err
    assert "'elsewhere'" in done.err
    refused(files("network", "table.csv", "links.csv", "--strict", *QUICK), "2 of 50 links are left out")


def test_too_few_documents(files):
    Path("one.csv").write_text("doc,a,b\nd00,1,2\n")
    Path("links.csv").write_text("from,to\nd00,d01\n")
    refused(files("network", "one.csv", "links.csv", *QUICK), "links.csv", "none of its 1 links")
    Path("two.csv").write_text("doc,a,b\nd00,1,2\nd01,2,1\n")
    refused(files("network", "two.csv", "links.csv", *QUICK), "2 documents", "at least 3")


def test_unreadable_files(files):
    Path("links.parquet").write_bytes(b"PAR1 this is none")
    refused(files("network", "table.csv", "links.parquet", *QUICK), "links.parquet")
    Path("empty.csv").write_text("")
    refused(files("network", "empty.csv", "links.csv", *QUICK), "empty.csv")


def test_bad_questions(files, made, pairs):
    refused(files("network", "suggest", made, "paper:d00"), "paper:d00", "called 'doc'", "doc:d00")
    refused(files("network", "suggest", made, "doc:d99"), "d99", "this map")
    refused(files("network", "suggest", made, "paper:d01"), "paper:d01")
    refused(files("network", "suggest", made, "d99"), "d99")
    refused(files("network", "suggest", made, "nowhere.csv"), "nowhere.csv")
    refused(files("network", "suggest", made, "docs.csv", "d01"), "d01", "no such file")
    refused(files("network", "suggest", made, "d01", "--text", "abstract"), "--text")
    refused(files("network", "suggest", made, "docs.csv", "--known"), "--known")
    refused(files("network", "suggest", made, "d01", "-n", 0), "top")
    refused(files("network", "suggest", "nomap", "d01"), "nomap")
    refused(files("network", "score", made, "words.csv"), "words.csv", "none of its")
    files("coembed", pairs, "--rows", "doc", "--columns", "word", "-o", "other")
    refused(files("network", "suggest", "other", "doc:d1"), "CorrespondenceAnalysis", "relscape network")
