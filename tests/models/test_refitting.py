"""Cohorts of a map fitted again are what a fit from the beginning gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import relscape as rs
from relscape.errors import ParameterError, UnknownNameError
from relscape.maps import Map
from relscape.models.refitting import refit_cohorts, why_not_refit


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(5)
    labels = np.repeat(np.arange(11), 12)
    centres = rng.normal(scale=3.0, size=(11, 4))
    return centres[labels] + rng.normal(size=(132, 4)), labels


@pytest.fixture(scope="module")
def model(samples):
    return rs.COVA("E1", random_state=0).fit(*samples)


def test_another_weight(samples, model):
    again = refit_cohorts(model.to_map(), alpha=0.2)
    fresh = rs.COVA("E1", alpha=0.2, prototypes=model.prototypes_, random_state=0).fit(*samples)
    np.testing.assert_allclose(again.coordinates("sample"), fresh.embedding_, atol=1e-8)
    assert again.group("cohort").ids.tolist() == [str(label) for label in range(11)]
    assert again.parameters["alpha"] == 0.2
    assert again.scores == pytest.approx(fresh.to_map().scores, abs=1e-9)


def test_another_arrangement(model, rng):
    places = model.prototypes_ + rng.normal(size=model.prototypes_.shape)
    again = refit_cohorts(model.to_map(), prototypes=places)
    np.testing.assert_allclose(again.coordinates("sample"), model.move(places), atol=1e-8)
    np.testing.assert_allclose(again.coordinates("cohort"), places)


def test_another_variant_has_its_own_size(samples, model):
    again = refit_cohorts(model.to_map(), "E2")
    size = again.coordinates("cohort").std() / model.prototypes_.std()
    assert size > 2  # a kernel of width 1 needs a larger picture than E1's
    shape = again.coordinates("cohort") - again.coordinates("cohort").mean(axis=0)
    before = model.prototypes_ - model.prototypes_.mean(axis=0)
    np.testing.assert_allclose(shape / size, before, atol=1e-8)
    fresh = rs.COVA("E2", prototypes=again.coordinates("cohort"), random_state=0).fit(*samples)
    np.testing.assert_allclose(again.coordinates("sample"), fresh.embedding_, atol=1e-6)
    back = refit_cohorts(again, "E1")
    np.testing.assert_allclose(
        back.coordinates("cohort").std(axis=0), model.prototypes_.std(axis=0), rtol=1e-6
    )
    assert refit_cohorts(again, "E3", alpha=0.5).coordinates("cohort") == pytest.approx(
        again.coordinates("cohort")
    )


def test_the_map_that_was_made_last_can_be_fitted_again(model):
    twice = refit_cohorts(refit_cohorts(model.to_map(), alpha=0.9), alpha=0.6)
    np.testing.assert_allclose(twice.coordinates("sample"), model.embedding_, atol=1e-8)


def test_labels_that_were_missing_and_anchors(samples):
    X, y = samples
    given = y.astype(object)
    given[::6] = None
    anchors = {3: (np.array([5.0, 5.0]), 2.0), 70: (np.array([-4.0, 1.0]), 0.5)}
    model = rs.COVA("E1", random_state=0).fit(X, given, anchors=anchors)
    again = refit_cohorts(model.to_map(), alpha=0.4)
    fresh = rs.COVA("E1", alpha=0.4, prototypes=model.prototypes_, random_state=0)
    fresh.fit(X, given, anchors=anchors)
    np.testing.assert_allclose(again.coordinates("sample"), fresh.embedding_, atol=1e-8)
    np.testing.assert_array_equal(again.group("sample").fields["predicted"], model.predicted_)


def test_cohorts_that_were_found_stay_found(samples):
    model = rs.COVA("E1", n_cohorts=4, random_state=0).fit(samples[0])
    again = refit_cohorts(model.to_map(), alpha=0.9)
    old = model.to_map().group("sample")
    assert again.group("sample").fields["cohort"].tolist() == old.fields["cohort"].tolist()
    assert again.group("sample").fields["predicted"].all()


def test_weights_without_features(samples, model):
    alone = rs.COVA("E1", affinity=model.affinity_, random_state=0).fit(None, samples[1])
    again = refit_cohorts(alone.to_map(), alpha=0.3)
    fresh = rs.COVA("E1", alpha=0.3, affinity=model.affinity_, prototypes=alone.prototypes_, random_state=0)
    np.testing.assert_allclose(again.coordinates("sample"), fresh.fit(None, samples[1]).embedding_, atol=1e-8)


def test_an_aligned_map_stays_aligned(model, rng):
    joint = model.to_map()
    target = Map([replace(joint.group("sample"), coordinates=rng.normal(size=(132, 2)), layout=None)])
    aligned = joint.align(target)
    again = refit_cohorts(aligned, alpha=0.6)
    np.testing.assert_allclose(again.coordinates("sample"), aligned.coordinates("sample"), atol=1e-8)
    np.testing.assert_allclose(again.group("sample").drawn, again.coordinates("sample"))


def test_maps_that_cannot_be_fitted_again(model, samples):
    joint = model.to_map()
    assert why_not_refit(joint) == ""
    bare = Map([joint.group("sample")])
    other = rs.TSNE(random_state=0, max_iterations=20).fit(samples[0]).to_map()
    grown = rs.place(
        joint,
        rs.RelationalData.from_matrix(
            samples[0][:2] + 0.1, "sample", "feature", ["a", "b"], model.column_entities_.ids
        ),
    )
    for map_, told in ((bare, "does not carry"), (other, "by TSNE"), (grown, "2 sample things")):
        with pytest.raises(ParameterError, match=told):
            refit_cohorts(map_)
    with pytest.raises(ParameterError, match="11 × 2 finite"):
        refit_cohorts(joint, prototypes=[[0.0, 1.0]])
    with pytest.raises(UnknownNameError, match="variant"):
        refit_cohorts(joint, variant="E9")
