"""A small fitted model of every registered method, and questions to ask of its map."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np

from relscape.data import RelationalData
from relscape.data.triples import KnowledgeGraph
from relscape.errors import RelscapeWarning
from relscape.maps import Map
from relscape.models.placing import place
from relscape.models.registry import METHODS, revive

__all__ = ["FITTED", "ask", "data_for", "fitted", "questions", "quick"]

_QUICK = {
    "random_state": 0,
    "max_evaluations": 4,
    "n_restarts": 1,
    "n_lambdas": 3,
    "perplexity": 3.0,
    "max_iterations": 20,
    "n_topics": 2,
    "n_sweeps": 4,
    "n_communities": 2,
    "n_epochs": 3,
    "n_batches": 2,
}
FITTED = tuple(METHODS)


def quick(name: str, **settings: Any) -> Any:
    """Give a model of a method, set up to be fitted in a moment."""
    model = METHODS[name].model_class()()
    wanted = {**_QUICK, **settings}
    if METHODS[name].family in ("network", "knowledge"):
        wanted.setdefault("n_components", 2)
    return model.set_params(**{key: wanted[key] for key in wanted.keys() & model.get_params().keys()})


def data_for(name: str) -> tuple[Any, ...]:
    """Give what a method's fit takes: small, with names, and well behaved."""
    rng = np.random.default_rng(5)
    family = METHODS[name].family
    if family == "knowledge":
        facts = [(f"e{i}", f"r{i % 2}", f"e{(3 * i + 1) % 9}") for i in range(9)]
        return (KnowledgeGraph([*facts, *((t, r, h) for h, r, t in facts[:4])]),)
    if family == "projection":
        views = [rng.normal(size=(12, d)) for d in (4, 3)]
        graph = np.eye(12, k=1) + np.eye(12, k=-1)
        if name == "lpp":
            return views[0], graph
        if name == "cca":
            return tuple(views)
        tables = dict(zip("xy", views, strict=True))
        return tables, {"x": graph} if name == "mvlpp" else {("x", "y"): np.eye(12), ("x", "x"): graph}
    counts = rng.poisson(2.0, size=(14, 9)) + np.eye(14, 9)
    relation = RelationalData.from_matrix(
        counts, "doc", "word", [f"d{i}" for i in range(14)], [f"w{j}" for j in range(9)]
    )
    if family == "network":
        return counts, np.array([(i, (i + s) % 14) for i in range(14) for s in (1, 2, 3)])
    if family == "cohorts":
        return relation, np.repeat(["a", "b"], 7)
    return (relation,)


@cache
def fitted(name: str) -> Any:
    """Fit a method to its data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        model = quick(name).fit(*data_for(name))
        joint = model.to_map()
    # a map with all in one place would agree with anything
    assert all(np.ptp(joint.coordinates(kind), axis=0).max() > 0 for kind in joint.groups)
    return model


def questions(name: str, joint: Map) -> None:
    """Revive the model of a map and ask it for all it can tell."""
    if joint.model_state is None:
        return
    ask(revive(joint.model_state), METHODS[name].family)
    if METHODS[name].family in ("coembedding", "multicode", "cohorts") and name != "mkpe":
        place(joint, _newcomers())


def ask(model: Any, family: str) -> None:
    """Ask a model for all that it can tell."""
    model.to_map()
    if family == "knowledge":
        _ask_of_facts(model)
    elif family == "network":
        _ask_of_links(model)
    elif family == "projection":
        table = np.ones((2, 4))
        model.transform(table if type(model).__name__ in ("LPP", "RidgeCCA") else {"x": table})
    elif hasattr(model, "transform"):
        model.transform(_newcomers())


def _newcomers() -> RelationalData:
    counts = np.random.default_rng(1).poisson(2.0, size=(2, 9)) + 1.0
    return RelationalData.from_matrix(counts, "doc", "word", ["n1", "n2"], [f"w{j}" for j in range(9)])


def _ask_of_facts(model: Any) -> None:
    model.rank([("e1", "r1", "e4")])
    model.predict_tails("e1", "r0", top=3)
    model.energy([("e1", "r1", "e4")])


def _ask_of_links(model: Any) -> None:
    model.predict_links(0, top=3)
    model.rank(np.array([[0, 5]]))
    new = np.ones((2, 9))
    if hasattr(model, "transform"):
        model.transform(new)
    if hasattr(model, "suggest"):
        model.suggest(new, top=3)
