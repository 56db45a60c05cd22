"""Settings of every model: usual ones (None), and those of the thesis and the models' papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["PRESETS", "Preset"]

# A margin for energies that are all to lie below it or above it, and not only apart.
_SELF_ADVERSARIAL_MARGIN = 6.0


@dataclass(frozen=True)
class Preset:
    """What "auto" means for one model, and options that go with it."""

    margin: float
    learning_rate: float
    norm: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def margin_of(self, loss: str) -> float:
        """Give the margin for a loss."""
        return _SELF_ADVERSARIAL_MARGIN if loss == "self-adversarial" else self.margin


_ADAGRAD = {"optimizer": "adagrad"}
_USUAL = {
    "Unstructured": Preset(1.0, 0.01),
    "RESCAL": Preset(1.0, 0.1, options=_ADAGRAD),
    "SE": Preset(1.0, 0.01),
    "SMELinear": Preset(1.0, 0.1, options=_ADAGRAD),
    "SMEBilinear": Preset(1.0, 0.1, options=_ADAGRAD),
    "LFM": Preset(1.0, 0.1, options=_ADAGRAD),
    "TransE": Preset(1.0, 0.01),
    "TransM": Preset(1.0, 0.01),
    "TransH": Preset(0.5, 0.005),
    "TransR": Preset(1.0, 0.001),
    "CTransR": Preset(1.0, 0.001),
    "TransPES": Preset(0.4, 0.002),
    "DistMult": Preset(1.0, 0.1, options=_ADAGRAD),
    "ComplEx": Preset(1.0, 0.1, options=_ADAGRAD),
    "RotatE": Preset(1.0, 0.1, options=_ADAGRAD),
}
# Filtering the choice of the epoch by test facts, too, is what the thesis did.
_THEN = {"mode": "minibatch", "validate_filter": "all", "validate_triples": None}
_THESIS = {
    **{name: Preset(p.margin, p.learning_rate, p.norm, {**p.options, **_THEN}) for name, p in _USUAL.items()},
    "TransPES": Preset(0.4, 0.002, "l2", {**_THEN, "sides": "both", "filter_negatives": False}),
    "TransE": Preset(1.0, 0.01, "l1", {**_THEN, "sides": "uniform"}),
    "TransH": Preset(0.5, 0.005, "l2sq", {**_THEN, "sides": "bernoulli", "lambda1": 0.015625}),
    "TransR": Preset(1.0, 0.001, "l1", {**_THEN, "sides": "bernoulli"}),
    "CTransR": Preset(1.0, 0.001, "l1", {**_THEN, "sides": "bernoulli"}),
}

PRESETS: dict[str | None, dict[str, Preset]] = {None: _USUAL, "thesis": _THESIS}
