"""Ridges and numbers of axes are chosen by what a projection says of things it was not told of."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import ndcg_score

from relscape.data.guidance import Guidance
from relscape.errors import DataError, ParameterError, UnknownNameError
from relscape.models.projection import HeterogeneousProjection
from relscape.tuning.projection import retrieval_score, tune_projection


@pytest.fixture
def album(rng):
    """Tags that two of twelve noisy features tell, of more tables than an unridged fit can bear."""
    groups = np.arange(40) % 4
    X = rng.normal(size=(40, 12))
    X[:, 0] += 3.0 * (groups % 2)
    X[:, 1] += 3.0 * (groups // 2)
    return {"image": X, "tag": None}, {("image", "tag"): np.eye(4)[groups]}


def test_retrieval_score_is_ndcg(rng):
    truth = (rng.random((12, 7)) < 0.4).astype(float)
    truth[:, 0] = 1.0
    places, tags = rng.normal(size=(12, 2)), rng.normal(size=(7, 2))
    distances = np.linalg.norm(places[:, None] - tags, axis=2)
    expected = [
        ndcg_score(row[None], -near[None], k=int(row.sum()))
        for row, near in zip(truth, distances, strict=True)
    ]
    assert retrieval_score(places, tags, csr_array(truth)) == pytest.approx(np.mean(expected))
    assert np.isnan(retrieval_score(places, tags, csr_array(np.zeros((12, 7)))))


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
