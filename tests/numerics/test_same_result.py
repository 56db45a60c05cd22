"""One result, whatever computes it: threads, precision, storage, order of rows, and scale.

The tolerances are those of docs/numerics.md, relative to the width of the map.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from tests.campaigns import only_refusals
from tests.numerics.results import EXACT, ITERATED, LEARNED, MODELS, places_of, relation
from tests.saved import FITTED, data_for, quick
from threadpoolctl import threadpool_info, threadpool_limits

from relscape.errors import RelscapeError, RelscapeWarning
from relscape.models.registry import METHODS, methods


def _places(model: Any) -> dict[str, Any]:
    """Give all places of a fitted model, by kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        joint = model.to_map()
    return {kind: joint.coordinates(kind) for kind in joint.groups}


def _fitted(name: str, *given: Any, **settings: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        return quick(name, **settings).fit(*given)


def _close(one: Any, other: Any, tolerance: float) -> None:
    """Compare places up to the signs of axes, which no data decides."""
    width = np.abs(other).max()
    signs = np.sign(np.sum(one * other, axis=0))
    assert_allclose(one * np.where(signs == 0, 1, signs), other, rtol=0, atol=tolerance * width)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one thread only")
@pytest.mark.parametrize("name", FITTED)
def test_threads_do_not_change_a_bit(name: str) -> None:
    given, before = data_for(name), numba.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            numba.set_num_threads(threads)
            with threadpool_limits(threads):
                found.append(_places(_fitted(name, *given)))
    finally:
        numba.set_num_threads(before)
    for kind, places in found[0].items():
        assert_array_equal(found[1][kind], places)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one thread only")
@pytest.mark.parametrize("name", ["ca", "lsi", "mutual", "code", "cova", "network"])
def test_threads_on_tables_large_enough_to_share(name: str) -> None:
    given: tuple[Any, ...] = (relation(),)
    if name == "cova":
        given = (*given, np.arange(200) % 4)
    if name == "network":
        given = (*given, np.array([(i, (i + 4) % 200) for i in range(200)]))
    before = numba.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            numba.set_num_threads(threads)
            with threadpool_limits(threads):
                found.append(_places(_fitted(name, *given)))
    finally:
        numba.set_num_threads(before)
    for kind, places in found[0].items():
        _close(found[1][kind], places, 1e-9)


@pytest.fixture(scope="module")
def usual() -> dict[str, Any]:
    """The places that all others are compared with."""
    return {name: places_of(name) for name in MODELS}


@pytest.mark.parametrize("name", MODELS)
def test_storage_precision_and_order(name: str, usual: dict[str, Any]) -> None:
    sparse, single, turned = 1e-8, 1e-6, 1e-8
    if name in ("E1", "eigen"):
        turned = 1e-6  # the search for the perplexity stops there
    if name in ITERATED:
        sparse, single, turned = 1e-3, 1e-3, 1e-3
    if name in LEARNED:
        sparse, single, turned = 1e-2, 1e-2, 1e-2
    _close(places_of(name, csr_array), usual[name], sparse)
    _close(places_of(name, lambda table: table.astype(np.float32)), usual[name], single)
    order = np.random.default_rng(0).permutation(200)
    _close(places_of(name, order=order), usual[name][order], turned)


@pytest.fixture(scope="module")
def by_another_blas(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The same by a process whose OpenBLAS takes its routines for an older kind of processor."""
    used = {library.get("architecture") for library in threadpool_info()} - {None}
    other = "Nehalem" if used - {"Nehalem"} else "Haswell"
    file = tmp_path_factory.mktemp("blas") / "places.npz"
    program = (
        "import runpy, sys\nfrom threadpoolctl import threadpool_info\n"
        "runpy.run_module('tests.numerics.results', run_name='__main__')\n"
        "print({library.get('architecture') for library in threadpool_info()} - {None})"
    )
    told = subprocess.run(
        [sys.executable, "-c", program, str(file)],
        env={**os.environ, "OPENBLAS_CORETYPE": other},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    if told.stdout.strip() != str({other}):
        pytest.skip(f"this BLAS does not choose its routines by OPENBLAS_CORETYPE: {told.stdout.strip()}")
    return dict(np.load(file))


@pytest.mark.parametrize("name", MODELS)
def test_blas_routines(name: str, usual: dict[str, Any], by_another_blas: dict[str, Any]) -> None:
    tolerance = 1e-8 if name in EXACT else 1e-3 if name in ITERATED else 1e-2
    _close(by_another_blas[name], usual[name], tolerance)


def _unit(places: Any) -> Any:
    """Bring a map to width 1: a factor of the weights may stretch it as a whole."""
    return places / np.abs(places).max()


FREE_OF_SCALE = ("ca", "bgp", "mutual")
FACTORS = [2.0**-40, 2.0**40, 1e-60, 1e60, 1e-150, 1e150, 1e-300, 1e300]


@pytest.mark.parametrize("name", methods("coembedding"))
@pytest.mark.parametrize("factor", FACTORS)
def test_weights_of_any_scale_are_right_or_refused(name: str, factor: float) -> None:
    table = data_for(name)[0].relation().matrix.toarray()
    usual = _fitted(name, table).row_embedding_
    with only_refusals():
        model = quick(name).fit(table * factor)
        assert np.isfinite(model.row_embedding_).all()
        if name in FREE_OF_SCALE:
            _close(_unit(model.row_embedding_), _unit(usual), 1e-8)


@pytest.mark.parametrize("name", [*methods("cohorts"), *methods("network"), *methods("projection")])
@pytest.mark.parametrize("factor", FACTORS)
def test_features_of_any_scale_are_right_or_refused(name: str, factor: float) -> None:
    given = data_for(name)
    with only_refusals():
        model = quick(name).fit(*_scaled(given, factor))
        for places in _places(model).values():
            assert np.isfinite(places).all()


def _scaled(given: tuple[Any, ...], factor: float) -> tuple[Any, ...]:
    """Scale what holds features: the first argument, all tables of a dict, both views of two."""
    first = given[0]
    if isinstance(first, dict):
        return {kind: table * factor for kind, table in first.items()}, *given[1:]
    if hasattr(first, "relation"):
        return first.relation().matrix.toarray() * factor, *given[1:]
    return first * factor, *given[1:]


@pytest.mark.parametrize("name", methods("coembedding"))
@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1)])
def test_kinds_of_a_single_thing(name: str, shape: tuple[int, int]) -> None:
    with only_refusals():
        model = quick(name, n_components=1).fit(np.arange(1.0, 1 + shape[0] * shape[1]).reshape(shape))
        assert model.row_embedding_.shape == (shape[0], 1)
        assert np.isfinite(model.row_embedding_).all()


def test_refusals_of_scale_say_so() -> None:
    with pytest.raises(RelscapeError, match="scale them"):
        METHODS["tsne"].model_class()().fit(np.eye(12) * 1e300)
    with pytest.raises(RelscapeError, match="scale them"):
        METHODS["cova"].model_class()().fit(np.eye(12) * 1e-300, [0, 1] * 6)
