"""Parameters are refused by name, whatever is given; and one seed gives one map."""

from __future__ import annotations

import numpy as np
import pytest
from tests.saved import data_for, quick

from relscape.errors import ParameterError, UnknownNameError
from relscape.models.checks import (
    as_number,
    check_choice,
    check_dimensions,
    check_flags,
    check_integer,
    check_number,
    generator,
    shown,
)
from relscape.models.registry import METHODS

SEEDED = [name for name in METHODS if "random_state" in quick(name).get_params()]
FLAGS = [
    (name, parameter)
    for name in METHODS
    for parameter, value in METHODS[name].model_class()().get_params().items()
    if isinstance(value, bool)
]


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "3", None, 2**31, 10**30, np.float64(2)])
def test_counts(value):
    with pytest.raises(ParameterError, match="n="):
        check_integer("n", value, 1)


def test_counts_may_have_bounds_of_their_own():
    check_integer("n", np.int8(3), 1, 3)
    with pytest.raises(ParameterError, match="n=4: give an integer from 1 to 3"):
        check_integer("n", 4, 1, 3)
    with pytest.raises(ParameterError, match="from 1 to 10000"):
        check_dimensions("n_components", 10**9)


@pytest.mark.parametrize("value", [-1, np.nan, np.inf, 10**400, 1e101, "1", None, True, 1j, [1.0]])
def test_numbers(value):
    with pytest.raises(ParameterError, match="ridge="):
        check_number("ridge", value, 0.0)


def test_numbers_may_be_whole_and_beyond_64_bits():
    check_number("ridge", 10**30, 0.0)
    assert as_number(10**30) == 1e30
    assert as_number(-(10**400)) == -np.inf
    assert np.isnan(as_number(True))


def test_choices_take_text_only():
    check_choice("solver", "a", ("a", "b"))
    for value in ("c", [], {}, np.array(["a"]), 10**5000):
        with pytest.raises(UnknownNameError, match="no solver"):
            check_choice("solver", value, ("a", "b"))


def test_values_in_messages_are_short():
    assert shown(np.zeros((3, 3))).count("\n") == 0
    assert len(shown("x" * 1000)) == 80
    assert "thousands of digits" in shown(10**5000)


def test_flags_may_come_from_numpy():
    model = quick("code", equal_rows=np.bool_(True))
    check_flags(model, "equal_rows")


@pytest.mark.parametrize(("name", "flag"), FLAGS)
@pytest.mark.parametrize("value", ["no", 3, None])
def test_no_text_counts_as_a_flag(name, flag, value):
    with pytest.raises(ParameterError, match=f"{flag}={value!r}: give True or False"):
        quick(name, **{flag: value}).fit(*data_for(name))


@pytest.mark.parametrize("seed", ["abc", -1, 1.5])
@pytest.mark.parametrize("name", SEEDED)
def test_seeds(name, seed):
    with pytest.raises(ParameterError, match="random_state="):
        quick(name, random_state=seed).fit(*data_for(name))


def test_any_seed_of_numpy_will_do():
    for seed in (None, 0, np.uint64(3), [1, 2], np.random.default_rng(0)):
        assert generator(seed).random() < 1


@pytest.mark.parametrize("name", ["code", "pe", "multicode"])
def test_starts_that_are_no_places(name):
    for start in ({"doc": {}}, 3, [[None]]):
        with pytest.raises(ParameterError, match="start"):
            quick(name, start=start).fit(*data_for(name))


def test_powers_beyond_computing():
    relation = np.arange(1.0, 13.0).reshape(4, 3) ** 2
    for name, parameters in (("lsi", {"beta": 1e6}), ("acas", {"alpha": 1.0, "beta": 1e6, "p": 0})):
        with pytest.raises(ParameterError, match="beta=1e\\+06"):
            quick(name, **parameters).fit(relation)


@pytest.mark.parametrize(
    "zeta", [True, b"1", [1.0, True], np.array([[1.0, 2.0]]), [1.0], [1.0, 2.0, 3.0], np.nan, "a", {}]
)
def test_zeta_is_one_number_or_one_an_axis(zeta):
    with pytest.raises(ParameterError, match="zeta="):
        quick("mutual", zeta=zeta).fit(*data_for("mutual"))


@pytest.mark.parametrize("option", ["filter_negatives", "type_aware", "reciprocal"])
def test_flags_of_knowledge_graphs(option):
    with pytest.raises(ParameterError, match=f"{option}='no': give True or False"):
        quick("kg", options={option: "no"}).check()


def test_threads_and_presets_of_knowledge_graphs():
    with pytest.raises(ParameterError, match="n_jobs=1000000000: give an integer from 1 to 1024"):
        quick("kg", n_jobs=10**9).check()
    with pytest.raises(UnknownNameError, match="no preset '\\[\\]'"):
        quick("kg", preset=[]).check()
