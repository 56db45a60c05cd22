"""How many threads linear algebra may take. Imports nothing of ours."""

from __future__ import annotations

from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread() -> Any:
    """Keep linear algebra on one thread while the context lasts.

    The order in which several threads add up changes the last digits; sparse products dominate the
    time anyway, and here they are serial.
    """
    return _controller().limit(limits=1, user_api="blas")
