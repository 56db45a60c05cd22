"""Ridges and numbers of axes are chosen by what a projection says of things it was not told of."""

from __future__ import annotations

import numpy as np
import pytest

from relscape.data.guidance import Guidance
from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.models.projection import HeterogeneousProjection
from relscape.scores import guidance_satisfaction, ndcg
from relscape.tuning.projection import tune_projection


@pytest.fixture
def album(rng):
    """Tags that two of twelve noisy features tell, of more tables than an unridged fit can bear."""
    groups = np.arange(40) % 4
    X = rng.normal(size=(40, 12))
    X[:, 0] += 3.0 * (groups % 2)
    X[:, 1] += 3.0 * (groups // 2)
    return {"image": X, "tag": None}, {("image", "tag"): np.eye(4)[groups]}


def test_the_best_is_kept_and_fitted_on_all(album):
    choice = tune_projection(
        HeterogeneousProjection(),
        *album,
        kind="image",
        other="tag",
        regularizations=(1e-3, 0.1),
        n_components=(1, 2),
        folds=4,
        random_state=0,
    )
    assert len(choice.records) == 4
    assert all(len(trial.scores) == 4 for trial in choice.records)
    best = max(choice.records, key=lambda trial: trial.score)
    assert (choice.regularization, choice.n_components) == (best.regularization, best.n_components)
    assert choice.n_components == 2
    assert best.score > 0.5  # by chance it is a quarter
    again = HeterogeneousProjection(2, choice.regularization).fit(*album)
    assert np.array_equal(choice.model.embeddings_["image"], again.embeddings_["image"])
    assert "4 folds of image things" in choice.reason


def test_kinds_keep_a_ridge_of_their_own(album):
    choice = tune_projection(
        HeterogeneousProjection(regularization={"tag": 0.0}, constraint="reference"),
        *album,
        kind="image",
        other="tag",
        regularizations=(0.1, 10.0),
        n_components=(2,),
        folds=2,
        random_state=0,
    )
    assert choice.model.regularization == {"image": choice.regularization, "tag": 0.0}
    assert choice.model.ridges_["tag"] == 0.0
    means = [choice.model.embeddings_["image"][tag::4].mean(axis=0) for tag in range(4)]
    assert np.allclose(choice.model.embeddings_["tag"], means)


def test_hidden_things_are_placed_by_their_features_alone(album):
    """The score of a fold is that of a model fitted without its images, which are then placed."""
    tables, guidance = album
    seen = []

    def score(places, others, truth):
        seen.append((places, others, truth))
        return 1.0

    tune_projection(
        HeterogeneousProjection(),
        tables,
        Guidance().block("tag", "image", guidance["image", "tag"].T),
        kind="image",
        other="tag",
        regularizations=(0.1,),
        n_components=(2,),
        folds=4,
        score=score,
        random_state=3,
    )
    parts = np.array_split(np.random.default_rng(3).permutation(40), 4)
    hidden = np.sort(parts[0])
    shown = np.setdiff1d(np.arange(40), hidden)
    W = guidance["image", "tag"]
    model = HeterogeneousProjection(2, 0.1).fit(
        {"image": tables["image"][shown], "tag": None}, {("image", "tag"): W[shown]}
    )
    places, tags, truth = seen[0]
    np.testing.assert_allclose(
        places, model.transform({"image": tables["image"][hidden]})["image"], atol=1e-8
    )
    np.testing.assert_allclose(tags, model.embeddings_["tag"], atol=1e-8)
    np.testing.assert_array_equal(truth.toarray(), W[hidden])


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("ndcg", lambda places, others, truth: ndcg(truth, places, others)),
        (
            "satisfaction",
            lambda places, others, truth: guidance_satisfaction(truth, places, others).closest_half,
        ),
    ],
)
def test_scores_by_name_are_those_of_the_functions(album, name, own):
    settings = {
        "kind": "image",
        "other": "tag",
        "regularizations": (0.1,),
        "n_components": (1, 2),
        "folds": 4,
        "random_state": 0,
    }
    by_name = tune_projection(HeterogeneousProjection(), *album, score=name, **settings)
    by_hand = tune_projection(HeterogeneousProjection(), *album, score=own, **settings)
    assert [trial.scores for trial in by_name.records] == [trial.scores for trial in by_hand.records]
    assert len({trial.score for trial in by_name.records}) == 2


def test_folds_without_similar_pairs_do_not_count(album):
    """Of four images one has a similar tag; the folds of the others have nothing to say by name."""
    tables, _ = album
    W = np.zeros((40, 4))
    W[:4, 0], W[0, 1] = -1.0, 1.0
    with pytest.warns(RelscapeWarning, match="of 2 tag things neither features nor guidance") as told:
        choice = tune_projection(
            HeterogeneousProjection(),
            tables,
            {("image", "tag"): W},
            kind="image",
            other="tag",
            regularizations=(0.1,),
            n_components=(1,),
            folds=2,
            random_state=0,
        )
    assert len(told) == 1
    (trial,) = choice.records
    assert np.isnan(trial.scores).sum() == 1
    assert trial.score == np.nansum(trial.scores)


def test_within_a_kind_hidden_things_are_no_candidates(album):
    tables, guidance = album
    W = guidance["image", "tag"]
    alike = W @ W.T - np.eye(40)
    seen = []

    def score(places, others, truth):
        seen.append((places, others, truth))
        return 1.0

    tune_projection(
        HeterogeneousProjection(),
        {"image": tables["image"]},
        {("image", "image"): alike},
        kind="image",
        other="image",
        regularizations=(0.1,),
        n_components=(2,),
        folds=4,
        score=score,
        random_state=3,
    )
    hidden = np.sort(np.array_split(np.random.default_rng(3).permutation(40), 4)[0])
    shown = np.setdiff1d(np.arange(40), hidden)
    places, others, truth = seen[0]
    assert (len(places), len(others)) == (10, 30)
    np.testing.assert_array_equal(truth.toarray(), alike[np.ix_(hidden, shown)])


def test_kinds_that_hiding_leaves_without_guidance(album):
    """Only one image has a place; in the fold that hides it there are no places."""
    tables, guidance = album
    W = np.zeros((40, 2))
    W[0] = 1.0
    choice = tune_projection(
        HeterogeneousProjection(kernels={"place": "rbf"}),
        {**tables, "place": np.eye(2)},
        {**guidance, ("image", "place"): W},
        kind="image",
        other="tag",
        regularizations=(0.1,),
        n_components=(2,),
        folds=4,
        random_state=0,
    )
    assert choice.records[0].score > 0.5
    assert "place" in choice.model.embeddings_


def test_settings_of_kinds_without_any_guidance_do_no_harm(album):
    tables, guidance = album
    with pytest.warns(RelscapeWarning, match="nothing guides 'city'"):
        choice = tune_projection(
            HeterogeneousProjection(regularization={"city": 0.5}, kernels={"city": "rbf"}),
            {**tables, "city": np.eye(3)},
            guidance,
            kind="image",
            other="tag",
            regularizations=(0.1,),
            n_components=(2,),
            folds=4,
            random_state=0,
        )
    assert choice.model.kernels == {"city": "rbf"}


def test_kinds_with_a_ridge_of_their_own_keep_it(album):
    choice = tune_projection(
        HeterogeneousProjection(regularization={"tag": 0.5}),
        *album,
        kind="image",
        other="tag",
        regularizations=(0.01, 0.1),
        n_components=(2,),
        folds=4,
        random_state=0,
    )
    ridges = {"image": choice.regularization, "tag": 0.5}
    again = HeterogeneousProjection(2, ridges).fit(*album)
    assert np.array_equal(choice.model.embeddings_["image"], again.embeddings_["image"])


def test_what_cannot_be_tuned(album):
    model = HeterogeneousProjection()
    with pytest.raises(UnknownNameError, match="no kind 'city'"):
        tune_projection(model, *album, kind="city", other="tag")
    with pytest.raises(DataError, match="kind 'tag' has no features"):
        tune_projection(model, *album, kind="tag", other="image")
    with pytest.raises(DataError, match="no guidance joins 'image' and 'image'"):
        tune_projection(model, *album, kind="image", other="image")
    with pytest.raises(DataError, match="too few for 50 folds"):
        tune_projection(model, *album, kind="image", other="tag", folds=50)
    with pytest.raises(ParameterError, match="folds=1"):
        tune_projection(model, *album, kind="image", other="tag", folds=1)
    with pytest.raises(ParameterError, match=r"regularizations=\(\)"):
        tune_projection(model, *album, kind="image", other="tag", regularizations=())
    with pytest.raises(UnknownNameError, match="Did you mean 'satisfaction'"):
        tune_projection(model, *album, kind="image", other="tag", score="satisfactions")
    tables, guidance = album
    with pytest.raises(DataError, match="no things of 'image' and 'tag' are similar"):
        tune_projection(
            model, tables, {("image", "tag"): -guidance["image", "tag"]}, kind="image", other="tag"
        )
