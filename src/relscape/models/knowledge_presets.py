"""Settings of every model: usual ones (None), and those of the thesis and the models' papers.

Losses over shared corruptions have usual settings of their own: they want all true energies below the margin
and all false ones above it, so vectors must be free to grow to about the margin's length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["PRESETS", "SHARED", "Preset", "preset_of"]


@dataclass(frozen=True)
class Preset:
    """What "auto" means for one model, and options that go with it."""

    margin: float
    learning_rate: float
    norm: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


_ADAGRAD = {"optimizer": "adagrad"}
# Rows move after every triple instead of waiting for their batch; what all triples share moves every so many.
# One thread still gives the same bits every time.
_WALKING = {"mode": "lock-free"}
_AT_ONCE = {**_ADAGRAD, **_WALKING}
_SHARING = {**_AT_ONCE, "window": 64}
_USUAL = {
    "Unstructured": Preset(1.0, 0.1, options=_AT_ONCE),
    "RESCAL": Preset(2.0, 0.1, options=_AT_ONCE),
    "SE": Preset(8.0, 0.1, options=_AT_ONCE),
    "SMELinear": Preset(4.0, 0.1, options=_SHARING),
    "SMEBilinear": Preset(4.0, 0.1, options=_ADAGRAD),
    "LFM": Preset(4.0, 0.1, options=_SHARING),
    "TransE": Preset(4.0, 0.1, options=_AT_ONCE),
    "TransM": Preset(1.0, 0.01, options=_WALKING),
    "TransH": Preset(0.5, 0.005, options=_WALKING),
    "TransR": Preset(2.0, 0.01, "l1", _WALKING),
    "CTransR": Preset(2.0, 0.01, "l1", _WALKING),
    "TransPES": Preset(0.4, 0.01, options=_WALKING),
    "DistMult": Preset(1.0, 0.1, options=_ADAGRAD),
    "ComplEx": Preset(1.0, 0.1, options=_ADAGRAD),
    "RotatE": Preset(4.0, 0.1, options=_AT_ONCE),
}
# Filtering the choice of the epoch by test facts, too, is what the thesis did.
_CHOICE = {"validate_filter": "all", "validate_triples": None}
_THEN = {"mode": "minibatch", **_CHOICE}
# What the thesis quotes of TransH, TransR and CTransR are their papers' results with a coin for the sides.
_THESIS = {
    **{name: Preset(p.margin, p.learning_rate, p.norm, {**p.options, **_THEN}) for name, p in _USUAL.items()},
    "TransPES": Preset(0.4, 0.002, "l2", {**_THEN, "sides": "both", "filter_negatives": False}),
    "TransE": Preset(1.0, 0.01, "l1", {**_THEN, "sides": "uniform"}),
    "TransH": Preset(0.5, 0.005, "l2sq", {**_THEN, "sides": "uniform", "lambda1": 0.015625}),
    "TransR": Preset(1.0, 0.001, "l1", {**_THEN, "sides": "uniform"}),
    "CTransR": Preset(1.0, 0.001, "l1", {**_THEN, "sides": "uniform"}),
}

_GROWING = {**_ADAGRAD, "entity_rule": "free", "lambda2": 0.0}
# For the losses "self-adversarial" and "softmax". The thesis has neither; its preset adds how it chooses the
# epoch.
SHARED = {
    "RESCAL": Preset(6.0, 0.1, options=_GROWING),
    "TransE": Preset(6.0, 0.25, "l2", _GROWING),
    "TransPES": Preset(3.0, 0.1, "l2", _GROWING),
    "DistMult": Preset(6.0, 0.1, options=_GROWING),
    "ComplEx": Preset(6.0, 0.1, options=_GROWING),
    "RotatE": Preset(6.0, 0.25, "l2", _GROWING),
}
PRESETS: dict[str | None, dict[str, Preset]] = {None: _USUAL, "thesis": _THESIS}


def preset_of(name: str | None, model: str, loss: str) -> Preset:
    """Give what "auto" means for a model and a loss."""
    usual = PRESETS[name][model]
    if loss == "margin":
        return usual
    shared = SHARED.get(model, Preset(usual.margin, usual.learning_rate, usual.norm))
    return replace(shared, options={**shared.options, **_CHOICE}) if name == "thesis" else shared
