"""Property-based tests in two sizes: few examples in CI, many in ``make test-all``."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from relscape.errors import RelscapeError, RelscapeWarning

__all__ = ["campaign", "only_refusals", "refusal"]

_ALWAYS = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def campaign(few: int, many: int, **strategies: SearchStrategy[Any]) -> Callable[..., Any]:
    """Draw the named arguments of a test ``few`` times in CI and ``many`` times where long tests run.

    Other arguments are fixtures and parameters of pytest. CI draws the same examples every time and
    does not shrink them, so that its time is known; the long campaign draws new ones and does.
    """

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        drawn = given(**strategies)(check)

        @pytest.mark.parametrize(
            "examples", [few, pytest.param(many, marks=pytest.mark.long)], ids=["few", "many"]
        )
        def test(examples: int, **others: Any) -> None:
            if examples == few:
                size = settings(
                    max_examples=few, derandomize=True, database=None, phases=[Phase.generate], **_ALWAYS
                )
            else:
                size = settings(max_examples=many, print_blob=True, **_ALWAYS)
            size(given(**strategies)(check))(**others)

        kept = [inspect.Parameter("examples", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        kept += inspect.signature(drawn).parameters.values()
        test.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        test.pytestmark = [*getattr(check, "pytestmark", []), *test.pytestmark]  # type: ignore[attr-defined]
        return test

    return decorate


def refusal(error: BaseException) -> bool:
    """Tell whether an error is one that bad input may end with: ours or a ValueError, with a message."""
    return isinstance(error, RelscapeError | ValueError) and len(str(error)) > 10


@contextmanager
def only_refusals() -> Iterator[None]:
    """Let a block end well or with a refusal; anything else, warnings of numpy too, is a fault."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", RelscapeWarning)
        try:
            yield
        except Exception as error:
            if not refusal(error):
                raise
