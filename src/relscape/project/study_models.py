"""The models of a project file: a method each, its parameters, and which data it is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from relscape.errors import ParameterError, UnknownNameError
from relscape.maps.layout import METHODS as LAYOUTS
from relscape.models.registry import METHODS, Method
from relscape.project.given_samples import METRICS
from relscape.project.sections import Section

__all__ = ["Model", "read_model"]

# Other names, as the commands have them.
_ALSO = {"cohorts": "cova"}
# What a model of each family may say of its data, beside the parameters of its method.
_KEYS = {
    "coembedding": ("relation", "min_degree", "keep_relations", "score", "layout"),
    "multicode": ("relations", "min_degree", "keep_relations", "layout"),
    "cohorts": ("kind", "label", "links", "metric"),
    "projection": ("layout",),
    "knowledge": ("relations", "facts", "hold_out", "inverse_safe", "trained", "layout"),
    "network": ("links", "undirected", "hold_out", "layout"),
}
_MAP = "map"


@dataclass(frozen=True)
class Model:
    """One model to fit: a method of the registry, its parameters, and what the file says of its data.

    ``data`` has the keys that its family knows, such as ``relation``; ``map`` is the directory of its map,
    as the file names it.
    """

    name: str
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    map: str = ""

    @property
    def entry(self) -> Method:
        """The method, as the registry has it."""
        return METHODS[self.method]

    def estimator(self) -> Any:
        """Build the estimator; a seed that is not said is 0, so that a run can be repeated."""
        model_class = self.entry.model_class()
        known = model_class().get_params(deep=False)
        seed = {"random_state": 0} if "random_state" in known else {}
        return model_class(**{**seed, **self.parameters})


def read_model(name: str, section: Section) -> Model:
    """Read a model; its keys are checked against what the method and its family know."""
    given = section.needed("method", "projection")
    method = _ALSO.get(given, given)
    if method not in METHODS:
        raise UnknownNameError("method", given, (*METHODS, *_ALSO), section.where("method"))
    own = (*_KEYS[METHODS[method].family], _MAP)
    known = METHODS[method].model_class()().get_params(deep=False)
    parameters = {key: value for key, value in section.content.items() if key not in (*own, "method")}
    for key in parameters:
        if key not in known:
            names = (*known, *own)
            raise UnknownNameError("parameter", key, names, f"{section.where()}, of method {given!r}")
        _check_type(section, key, known[key])
    data = {key: _said(section, key) for key in own if key in section.content and key != _MAP}
    _check_together(section, data)
    return Model(name, method, parameters, data, section.text(_MAP, f"maps/{name}") or f"maps/{name}")


def _check_type(section: Section, key: str, usual: Any) -> None:
    """Refuse at once what cannot be meant: a text for a number, a number for a truth value."""
    value = section.content[key]
    if isinstance(usual, bool):
        if not isinstance(value, bool):
            raise section.fault(key, "expected true or false.")
    elif isinstance(usual, int | float) and isinstance(value, str | bool):
        raise section.fault(key, f"expected a number, such as {key} = {usual}.")
    elif isinstance(usual, str) and isinstance(value, bool):
        raise section.fault(key, f'expected a name or a number, such as {key} = "{usual}".')


def _said(section: Section, key: str) -> Any:
    """Read one key that says of what a model is made."""
    if key in ("relations",):
        return section.texts(key, '["written", "cites"]')
    if key in ("keep_relations", "score", "undirected", "inverse_safe"):
        return section.truth(key)
    if key == "metric":
        return section.choice(key, METRICS)
    if key == "layout":
        return section.choice(key, tuple(LAYOUTS))
    if key == "min_degree":
        return section.number(key, 0.0, float("inf"))
    if key == "hold_out":
        return _shares(section, key)
    example = {"kind": "image", "label": "album", "facts": "facts/", "trained": "kg/facts"}
    return section.text(key, example.get(key, "cites"))


def _shares(section: Section, key: str) -> Any:
    """Read how much to keep aside for a test: of links a share, of facts two, to choose and to test with."""
    value = section.content[key]
    family = METHODS[_ALSO.get(section.content["method"], section.content["method"])].family
    if family == "network":
        share = section.number(key, 0.0, 1.0)
        if not 0 < share < 1:
            raise section.fault(key, "expected a share of the links between 0 and 1, such as 0.1.")
        return share
    numbers = value if isinstance(value, list) else []
    sound = all(
        isinstance(one, int | float) and not isinstance(one, bool) and 0 <= one < 1 for one in numbers
    )
    if len(numbers) != 2 or not sound or sum(numbers) >= 1:
        raise section.fault(key, "expected two shares, to choose by and to test with: [0.05, 0.1].")
    return (float(numbers[0]), float(numbers[1]))


def _check_together(section: Section, data: Mapping[str, Any]) -> None:
    if "relations" in data and "facts" in data:
        raise ParameterError(
            f"{section.where()}: relations and facts are both given; facts are those of relations or of "
            "files, not both."
        )
    if data.get("inverse_safe") and "hold_out" not in data:
        raise ParameterError(
            f"{section.where('inverse_safe')}: this says how facts are kept aside; give hold_out too."
        )
