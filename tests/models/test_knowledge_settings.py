"""Settings that cannot work are refused before anything is trained."""

from __future__ import annotations

from typing import Any

import pytest

from relscape.errors import ParameterError
from relscape.models.knowledge import KGEmbedding
from relscape.models.knowledge_presets import PRESETS, SHARED
from relscape.objectives.energies import ENERGIES


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "SE", "loss": "softmax"}, "SE has no matrix products"),
        ({"model": "TransPES", "loss": "softmax", "norm": "l1"}, "by l2 or l2sq only"),
        ({"model": "SMEBilinear", "options": {"mode": "lock-free"}}, "SMEBilinear trains in batches only"),
        ({"model": "TransE", "options": {"entity_rule": "round"}}, "entity_rule='round'"),
    ],
)
def test_what_does_not_go_together_is_refused_at_once(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        KGEmbedding(**settings).check()


def test_every_loss_has_settings_of_its_own() -> None:
    assert set(SHARED) == {name for name, energy in ENERGIES.items() if energy.many_tails}
    for name in SHARED:
        for loss in ("self-adversarial", "softmax"):
            engine = KGEmbedding(name, loss=loss).check().engine
            assert (engine.margin, engine.learning_rate) == (SHARED[name].margin, SHARED[name].learning_rate)
            assert engine.optimizer == "adagrad"
    given = KGEmbedding("TransE", loss="softmax", learning_rate=0.5, norm="l1", options={"optimizer": "sgd"})
    engine = given.check().engine
    assert (engine.learning_rate, engine.norm, engine.optimizer) == (0.5, "l1", "sgd")
    assert KGEmbedding("TransE").check().engine.margin == PRESETS[None]["TransE"].margin
