"""All settings of a knowledge-graph training: what is "auto", what a preset says, what the options are.

Options besides the parameters of :class:`~relscape.models.knowledge.KGEmbedding`:

====================== =======================================================================================
``optimizer``          "sgd" or "adagrad"
``schedule``           of the rate: "constant", "linear", or "step" with ``step_every``, ``step_factor``
``sides``              which end is corrupted: "both" in turn, "uniform" (a coin), "bernoulli"
``filter_negatives``   whether known triples are never taken for corrupted ones
``type_aware``         whether heads and tails are drawn among those seen with the relation
``reciprocal``         whether every relation gets another one for the way back, and only tails are asked for
``lambda1, lambda2``   weights of the penalties on entities and on relations
``grad_clip``          longest gradient of a row; 0 for no limit
``entity_rule``        what keeps entities short: "free", "unit", "soft", "ball" or "decay"
``temperature``        of the self-adversarial loss
``mode, window, parts`` how batches are walked over; see :class:`relscape.solvers.triples.options.Options`
``xi, alpha``          the number that TransPES, and that CTransR, has of its own
``d, rank, clusters``  lengths of entities (TransR, CTransR, SME), factors of LFM, clusters of CTransR
``dtype``              "float32" or "float64"
``warm_epochs``        epochs of TransE that TransR and CTransR begin from
``validate_...``       ``every``, ``last``, ``triples``, ``by``, ``filter``; and ``patience``: see
                       :class:`relscape.models.knowledge_validation.Validation`
====================== =======================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from relscape.errors import ParameterError, UnknownNameError
from relscape.models.checks import check_choice, check_dimensions, check_integer, check_number, is_auto, shown
from relscape.models.knowledge_presets import PRESETS, Preset, preset_of
from relscape.models.knowledge_validation import Validation
from relscape.objectives.energies import ENERGIES, Energy, Settings, energy_named
from relscape.solvers.triples.options import LOSSES, Options
from relscape.solvers.triples.sampling import SIDES
from relscape.solvers.triples.training import check_fit

__all__ = ["OPTION_FLAGS", "OPTION_NAMES", "Plan", "plan_of"]

_ENGINE = (
    "optimizer", "schedule", "step_every", "step_factor", "lambda1", "lambda2", "grad_clip", "entity_rule",
    "temperature", "mode", "window", "parts",
)  # fmt: skip
_SAMPLING = {"sides": "both", "filter_negatives": True, "type_aware": False, "reciprocal": False}
_SIZES = ("d", "rank", "clusters")
_NUMBERS = ("xi", "alpha")
_OTHERS = {"dtype": "float32", "warm_epochs": 100}
_VALIDATION = {f"validate_{f.name}": f.name for f in fields(Validation) if f.name != "patience"} | {
    "patience": "patience"
}
OPTION_FLAGS = tuple(name for name, usual in _SAMPLING.items() if isinstance(usual, bool))
_COUNTS = ("step_every", "window", "parts")
_AMOUNTS = ("step_factor", "lambda1", "lambda2", "grad_clip", "temperature", *_NUMBERS)
_NAMES = ("optimizer", "schedule", "entity_rule", "mode", "sides", "dtype")
_MOST_THREADS = 1_024
OPTION_NAMES = (*_ENGINE, *_SAMPLING, *_SIZES, *_NUMBERS, *_OTHERS, *_VALIDATION)


@dataclass(frozen=True, eq=False)
class Plan:
    """How to train, with everything filled in and checked."""

    energy: Energy
    settings: Settings
    n_components: int
    sizes: Mapping[str, int]
    engine: Options
    sides: str
    filter_negatives: bool
    type_aware: bool
    reciprocal: bool
    dtype: str
    warm_epochs: int
    validation: Validation

    @property
    def n_epochs(self) -> int:
        """How many epochs there are to be."""
        return self.engine.n_epochs


def plan_of(parameters: Mapping[str, Any]) -> Plan:
    """Turn the parameters of a model into a plan; what cannot work is refused with its name."""
    check_choice("model", parameters["model"], ENERGIES)
    energy = energy_named(parameters["model"])
    check_dimensions("n_components", parameters["n_components"])
    for name in ("n_batches", "negatives", "n_epochs"):
        check_integer(name, parameters[name], 1)
    check_integer("n_jobs", parameters["n_jobs"], 1, _MOST_THREADS)
    check_choice("loss", parameters["loss"], LOSSES)
    if parameters["norm"] is not None and not isinstance(parameters["norm"], str):
        raise ParameterError(f"norm={shown(parameters['norm'])}: give the name of a norm, such as 'l1'.")
    preset = _preset(parameters["preset"], energy.name, parameters["loss"])
    given = {**preset.options, **_checked_options(parameters["options"])}
    engine = _engine(parameters, given, preset, energy)
    check_fit(energy, engine)
    sampling = {name: given.get(name, default) for name, default in _SAMPLING.items()}
    if sampling["sides"] not in SIDES:
        raise ParameterError(f"sides={sampling['sides']!r}: expected one of {', '.join(SIDES)}.")
    if sampling["type_aware"] and engine.loss != "margin":
        raise ParameterError(
            f"options: type_aware draws corruptions for each triple, but loss={engine.loss!r} shares them "
            "among all triples of a batch; use loss='margin', or leave type_aware out."
        )
    if sampling["reciprocal"]:
        sampling["sides"] = "tail"
    dtype, warm_epochs = (given.get(name, default) for name, default in _OTHERS.items())
    if dtype not in ("float32", "float64"):
        raise ParameterError(f"dtype={dtype!r}: expected 'float32' or 'float64'.")
    check_integer("warm_epochs", warm_epochs, 0)
    watched = {field: given[name] for name, field in _VALIDATION.items() if name in given}
    return Plan(
        energy,
        energy.settings(engine.norm, engine.number),
        int(parameters["n_components"]),
        {name: _size(name, given[name]) for name in _SIZES if name in given},
        engine,
        **sampling,
        dtype=dtype,
        warm_epochs=warm_epochs,
        validation=Validation(**watched),
    )


def _preset(name: str | None, model: str, loss: str) -> Preset:
    if name is not None:
        check_choice("preset", name, [known for known in PRESETS if known is not None])
    return preset_of(name, model, loss)


def _checked_options(options: Any) -> dict[str, Any]:
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ParameterError(f"options={shown(options)}: give a dict of names and values.")
    for name, value in options.items():
        if name not in OPTION_NAMES:
            raise UnknownNameError("option", name, OPTION_NAMES)
        if name in OPTION_FLAGS and not isinstance(value, bool | np.bool_):
            raise ParameterError(f"{name}={shown(value)}: give True or False.")
        if name in _COUNTS:
            check_integer(name, value, 1)
        if name in _AMOUNTS and value is not None:
            check_number(name, value, 0.0)
        if name in _NAMES and not (isinstance(value, str) or (name == "entity_rule" and value is None)):
            raise ParameterError(f"{name}={shown(value)}: give a name, as text.")
    return dict(options)


def _size(name: str, value: Any) -> int:
    check_integer(name, value, 1)
    return int(value)


def _engine(parameters: Mapping[str, Any], given: dict[str, Any], preset: Preset, energy: Energy) -> Options:
    """Fill in what is "auto" and hand everything to the engine, which checks the rest."""
    auto: dict[str, Any] = {
        "margin": preset.margin,
        "learning_rate": preset.learning_rate,
    }
    for name in auto:
        if not is_auto(parameters[name]):
            check_number(name, parameters[name], 0)
            auto[name] = float(parameters[name])
    norm = preset.norm if is_auto(parameters["norm"]) else parameters["norm"]
    n_jobs = int(parameters["n_jobs"])
    engine = {name: given[name] for name in _ENGINE if name in given}
    return Options(
        loss=parameters["loss"],
        negatives=parameters["negatives"],
        n_epochs=parameters["n_epochs"],
        n_batches=parameters["n_batches"],
        n_jobs=n_jobs,
        norm=norm,
        number=_number(given, energy),
        **auto,
        **{"mode": _mode(parameters, energy, n_jobs), **engine},
    )


def _number(given: Mapping[str, Any], energy: Energy) -> float | None:
    """Find the number the model has of its own; one that belongs to another model is refused."""
    for name in _NUMBERS:
        if name in given and name != energy.extra:
            raise ParameterError(f"options: {name} has no meaning for {energy.name}; leave it out.")
    return None if energy.extra is None else given.get(energy.extra)


def _mode(parameters: Mapping[str, Any], energy: Energy, n_jobs: int) -> str:
    """Train without locks where several threads are asked for and the model and the loss allow it."""
    free = n_jobs > 1 and parameters["loss"] == "margin" and energy.expand is None
    return "lock-free" if free else "minibatch"
