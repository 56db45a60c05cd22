"""Every registered estimator, given whatever: places that are finite where defined, or one refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.sparse import coo_array, csc_array, csr_array
from tests.campaigns import campaign, only_refusals
from tests.damage import any_text
from tests.saved import quick

from relscape.data.guidance import Guidance
from relscape.data.triples import KnowledgeGraph
from relscape.models.registry import METHODS, methods

numbers = st.one_of(
    st.integers(0, 4).map(float),
    st.floats(0, 1e3),
    st.sampled_from([0.0, 1.0, 1e-9, 1e9, 1e-300, 1e300, -1.0, np.nan, np.inf]),
)
# Mostly numbers that can be used, so that most tables are fitted and not refused.
usual = st.one_of(st.integers(0, 4).map(float), st.integers(0, 4).map(float), st.floats(0.0, 9.0, width=32))
entries = st.one_of(st.just(usual), st.just(usual), st.just(numbers))


@st.composite
def tables(draw: Any, rows: int = 12, columns: int = 9) -> Any:
    """A small table: dense or sparse, of any type, with empty rows, single rows, repeats and bad values."""
    shape = draw(array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=max(rows, columns)))
    table = draw(arrays(np.float64, (min(shape[0], rows), min(shape[1], columns)), elements=draw(entries)))
    if draw(st.booleans()) and len(table) > 1:
        table[-1] = table[0]
    kind = draw(st.sampled_from(["dense", "dense", "csr", "csc", "twice", "single", "whole", "fortran"]))
    usable = np.isfinite(table).all() and np.abs(table).max(initial=0) < 1e6
    match kind:
        case "csr" | "csc":
            return (csr_array if kind == "csr" else csc_array)(table)
        case "twice":  # every entry in two halves, as duplicates
            i, j = np.nonzero(table)
            half = np.tile(table[i, j] / 2, 2)
            return coo_array((half, (np.tile(i, 2), np.tile(j, 2))), shape=table.shape)
        case "single":
            with np.errstate(over="ignore"):
                return table.astype(np.float32)
        case "whole" if usable:
            return table.astype(np.int64)
    return np.asfortranarray(table) if kind == "fortran" else table


def _sound(places: Any, count: int, defined: Any = None) -> None:
    """One row a thing; NaN only in whole rows, and only where a thing has no place."""
    places = np.asarray(places)
    assert places.ndim == 2
    assert len(places) == count
    missing = np.isnan(places).all(axis=1)
    assert np.isfinite(places[~missing]).all()
    if defined is not None:
        assert (missing == ~np.asarray(defined)).all()


def _mapped(model: Any) -> None:
    joint = model.to_map()
    for kind in joint.groups:
        assert np.isfinite(joint.coordinates(kind)).all()


@pytest.mark.parametrize("name", methods("coembedding"))
@campaign(few=5, many=1000, table=tables(), dimensions=st.sampled_from([1, 2, 2, 3, 50]))
def test_coembeddings(name: str, table: Any, dimensions: int) -> None:
    model = quick(name, n_components=dimensions)
    with only_refusals():
        model.fit(table)
        _sound(model.row_embedding_, table.shape[0], model.row_defined_)
        _sound(model.column_embedding_, table.shape[1], model.column_defined_)
        assert model.row_embedding_.shape[1] == model.column_embedding_.shape[1] == dimensions
        _mapped(model)
        if hasattr(model, "transform"):
            _sound(model.transform(table), table.shape[0])


@campaign(few=8, many=1000, first=tables(), second=tables(), data=st.data())
def test_many_kinds(first: Any, second: Any, data: Any) -> None:
    names = data.draw(st.sampled_from([("doc", "word", "author"), ("doc", "word", "doc"), ("a", "a", "b")]))
    relations = {names[:2]: first, names[1:]: second}
    with only_refusals():
        model = quick("multicode").fit(relations)
        for places in model.embeddings_.values():
            _sound(places, len(places))
        _mapped(model)


@pytest.mark.parametrize("name", methods("cohorts"))
@campaign(
    few=5, many=1000, table=tables(), data=st.data(), dimensions=st.sampled_from([1, 2, 2, 3, 50])
)  # fmt: skip
def test_cohort_models(name: str, table: Any, data: Any, dimensions: int) -> None:
    count = table.shape[0]
    label = st.sampled_from(["a", "b", "c", None, "a"])
    labels = data.draw(
        st.one_of(st.none(), st.lists(label, min_size=count, max_size=count), st.just(["a"] * count))
    )
    options = {"n_components": dimensions}
    if name == "cova":
        options["variant"] = data.draw(
            st.sampled_from(["E1", "E2", "E3", "E4", "P1", "P2", "P3", "P4", "eigen"])
        )
    model = quick(name, **options)
    with only_refusals():
        model.fit(table, labels)
        _sound(model.embedding_, count)
        _mapped(model)


@pytest.mark.parametrize("name", methods("network"))
@campaign(few=5, many=1000, table=tables(), data=st.data())
def test_networks(name: str, table: Any, data: Any) -> None:
    count = table.shape[0]
    end = st.integers(-1, count) if data.draw(st.integers(0, 5)) == 0 else st.integers(0, count - 1)
    links = data.draw(st.lists(st.tuples(end, end), max_size=3 * count))
    with only_refusals():
        model = quick(name).fit(table, np.array(links, dtype=np.int64).reshape(-1, 2))
        _mapped(model)
        answers = model.predict_links(0, top=3)
        assert len(answers) <= 3


@pytest.mark.parametrize("name", methods("projection"))
@campaign(few=6, many=1000, first=tables(), second=tables(), data=st.data())
def test_projections(name: str, first: Any, second: Any, data: Any) -> None:
    graph = data.draw(
        arrays(np.float64, (first.shape[0],) * 2, elements=st.sampled_from([0.0, 0.0, 1.0, 2.0, -1.0]))
    )
    across = data.draw(
        arrays(
            np.float64, (first.shape[0], second.shape[0]), elements=st.sampled_from([0.0, 1.0, -1.0, np.nan])
        )
    )
    given = {
        "lpp": (first, graph),
        "cca": (first, second),
        "mvlpp": ({"x": first, "y": second}, {"x": graph}),
        "projection": ({"x": first, "y": second}, {("x", "y"): across, ("x", "x"): graph}),
    }[name]
    with only_refusals():
        model = METHODS[name].model_class()(random_state=0).fit(*given)
        for places in model.embeddings_.values():
            _sound(places, len(places))
        _mapped(model)


@campaign(
    few=8, many=1000,
    pairs=st.lists(
        st.tuples(
            st.sampled_from("xyz"), st.integers(-1, 5), st.sampled_from("xy"), st.integers(0, 5), numbers
        ),
        max_size=8,
    ),
)  # fmt: skip
def test_guidance(pairs: list[tuple[str, int, str, int, float]]) -> None:
    tables = {kind: np.random.default_rng(0).normal(size=(5, 3)) for kind in "xy"}
    with only_refusals():
        guidance = Guidance()
        for kind, i, other, j, weight in pairs:
            guidance.similar(kind, i, other, j, weight=weight)
        model = METHODS["projection"].model_class()(random_state=0).fit(tables, guidance)
        for places in model.embeddings_.values():
            _sound(places, 5)


name = st.one_of(any_text, st.sampled_from(["a", "b", "c", "d", "e", ""]), st.none(), st.integers(0, 3))


@campaign(
    few=15, many=1000,
    facts=st.lists(st.tuples(name, name, name), max_size=12),
    kind=st.sampled_from(["TransE", "TransPES", "DistMult", "RotatE", "TransR", "RESCAL"]),
)  # fmt: skip
def test_knowledge_graphs(facts: list[Any], kind: str) -> None:
    with only_refusals():
        graph = KnowledgeGraph(facts)
        model = quick("kg", model=kind, n_components=4, options={"warm_epochs": 1}).fit(graph)
        assert np.isfinite(model.energy(facts)).all()
        report = model.rank(facts)
        assert 1 <= report.mean_rank <= len(graph.entities)
        _mapped(model)
