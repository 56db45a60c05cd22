"""``relscape clusters`` on maps of any making, and ``relscape score`` on maps of guided kinds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import relscape as rs
from relscape.project.guidance_scores import guidance_scores

TAGS = ["sunny", "mild", "frosty"]


@pytest.fixture
def album(relscape):
    """A map of images and tags, with images that are alike and some that are not, as the directory album."""
    rng = np.random.default_rng(0)
    images = np.repeat(np.eye(3), 10, axis=0) + 0.1 * rng.normal(size=(30, 3))
    data = rs.RelationalData.from_edges(
        [(f"i{number:02}", TAGS[number // 10]) for number in range(30)], rows="image", columns="tag"
    )
    tagged = data.relation().matrix
    guidance = rs.Guidance().block("image", "tag", tagged)
    for number in range(9):
        guidance.similar("image", number, "image", number + 1)
        guidance.dissimilar("image", number, "image", number + 20)
    things = {
        "image": rs.EntitySet("image", data.entities["image"].ids, features=images),
        "tag": data.entities["tag"],
    }
    model = rs.HeterogeneousProjection(2, random_state=0).fit(things, guidance)
    model.to_map().save("album")
    return relscape


def test_clusters_are_told(album):
    done = album("clusters", "album", "-k", 3, "--top", 2)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "cluster 1: 10 × image, 1 × tag"
    assert lines[2].split() == ["tag", rs.Map.load("album").nearest(centre_of(0), "tag", 1)[0].id]
    assert lines[-1].startswith("next: relscape neighbors album 'image:i")
    assert len(lines) == 3 * 3 + 1


def centre_of(number):
    return rs.cluster_map(rs.Map.load("album"), 3, random_state=0).centres[number]


def test_clusters_for_machines(album):
    told = album("clusters", "album", "-k", 3, "--json").json
    assert [part["sizes"] for part in told["clusters"]] == [{"image": 10, "tag": 1}] * 3
    for number in range(30):
        assert told["members"]["image"][f"i{number:02}"] == told["members"]["tag"][TAGS[number // 10]]
    nearest = told["clusters"][0]["nearest"]["image"]
    assert len(nearest) == 5
    assert set(nearest[0]) == {"kind", "id", "label", "distance"}


def test_maps_of_any_model_have_clusters(relscape, made):
    done = relscape("clusters", made, "-k", 2)
    assert done.code == 0
    assert "cluster 2: " in done.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("-k", 1), "at least 2"),
        (("-k", 99), "only 8 samples"),
        (("--top", 0), "top=0"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(relscape, made, arguments, told):
    done = relscape("clusters", made, *arguments)
    assert done.code == 1
    assert told in done.err


def test_guided_maps_are_scored_by_the_guidance_they_carry(album):
    scores = album("score", "album", "--json").json
    joint = rs.Map.load("album")
    assert scores == guidance_scores(joint)
    tagged = scores["image-tag"]
    assert (tagged["similar_pairs"], tagged["dissimilar_pairs"]) == (30, 0)
    images, tags = joint.coordinates("image"), joint.coordinates("tag")
    right = joint.relations["image-tag"].matrix.toarray()[np.arange(30), cdist(images, tags).argmin(axis=1)]
    assert tagged["ndcg"] == pytest.approx(right.mean())
    assert tagged["guess_ndcg"] == pytest.approx(1 / 3)
    assert "farther_than_mean" not in tagged
    alike = scores["image-image"]
    assert (alike["similar_pairs"], alike["dissimilar_pairs"]) == (9, 9)
    distance = cdist(images, images)
    mean = distance.sum() / (30 * 29)
    assert alike["farther_than_mean"] == pytest.approx(
        np.mean([distance[i, i + 20] > mean for i in range(9)])
    )


def test_scores_of_guidance_are_printed_and_stored(album):
    done = album("score", "album", "--store")
    assert done.code == 0
    head = done.out.splitlines()[0]
    assert head.split() == [
        "guidance",
        "similar",
        "dissimilar",
        "closest",
        "half",
        "near",
        "far",
        "NDCG",
        "guess",
    ]
    assert "50% by chance" in done.out
    assert "guided the map" in done.err
    assert rs.Map.load("album").scores["image-tag"]["similar_pairs"] == 30
    assert album("info", "album").code == 0


def test_what_cannot_be_scored_by_guidance(album):
    assert "--label x: name the files" in album("score", "album", "--label", "x").err
    rs.Map.load("album").with_relations([]).save("bare")
    done = album("score", "bare")
    assert done.code == 1
    assert "bare does not carry its guidance" in done.err
