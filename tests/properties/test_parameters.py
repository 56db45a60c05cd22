"""Every parameter of every estimator, given whatever: a fit, or one refusal that names the parameter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.campaigns import campaign, only_refusals
from tests.saved import data_for, quick

from relscape.errors import DataError, RelscapeError
from relscape.models.knowledge_settings import OPTION_NAMES
from relscape.models.registry import METHODS

# No whole number between 20 and 2³¹ is drawn: as a count it would only ask for a long wait or much memory,
# which is anyone's right. From 2³¹ on counts are refused.
odd = st.one_of(
    st.sampled_from([10**30, -(10**30), 10**400, 2**63, 2**31, -1, 0, 1, 2, 3, 20]),
    st.sampled_from([0.0, -0.0, 0.5, 1.0, 1.5, -2.5, 1e-300, 1e300, np.nan, np.inf, -np.inf, 2 + 1j]),
    st.sampled_from(["", "auto", "no", "1", "abc", "CM", "e\u0301\n", "1/n", "x", "doc-word", b"1"]),
    st.sampled_from([True, False, None]),
    st.builds(list, st.lists(st.sampled_from([0, 1, 2.0, "a", None, np.nan]), max_size=3)),
    st.sampled_from([{}, {"x": 1}, {1: "a"}, {"doc": [[0.0]]}, (), (1, 2), set(), object(), int]),
    st.sampled_from([np.float64(0.5), np.float32("nan"), np.int8(3), np.uint64(2**63), np.bool_(True)]),
    st.builds(np.array, st.sampled_from([0.0, 1.5, [], [1.0, 2.0], ["a"], [[0.0, 1.0]], [None]])),
)


def _refusal_names(names: list[str], error: BaseException) -> bool:
    """Tell whether a refusal says by name what is wrong; what data lack for it is told in their words."""
    told = str(error).replace("_", " ")
    lacking = isinstance(error, DataError) or "n_samples=" in str(error)
    return lacking or any(name.rstrip("s").replace("_", " ") in told for name in names)


def _tried(name: str, changed: dict[str, Any]) -> None:
    with only_refusals():
        try:
            model = quick(name).set_params(**changed).fit(*data_for(name))
            model.to_map()
        except RelscapeError as error:
            names = [*changed, *(changed["options"] if isinstance(changed.get("options"), dict) else ())]
            assert _refusal_names(names, error), (changed, str(error))


@pytest.mark.parametrize("name", METHODS)
@campaign(few=8, many=500, data=st.data())
def test_odd_parameters(name: str, data: st.DataObject) -> None:
    known = sorted(quick(name).get_params(deep=False))
    chosen = data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=2, unique=True))
    _tried(name, {parameter: data.draw(odd) for parameter in chosen})


@campaign(few=30, many=1000, data=st.data())
def test_odd_options_of_knowledge_graphs(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(["TransE", "TransPES", "CTransR", "LFM", "DistMult"]))
    option = data.draw(st.sampled_from(OPTION_NAMES))
    _tried("kg", {"model": kind, "options": {option: data.draw(odd), "warm_epochs": 1}})
