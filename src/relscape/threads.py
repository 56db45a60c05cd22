"""Threads: how many linear algebra may take, and whether any can be had. Imports nothing of ours."""

from __future__ import annotations

from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["lacks_threads", "one_thread"]


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread() -> Any:
    """Keep linear algebra on one thread while the context lasts.

    The order in which several threads add up changes the last digits; sparse products dominate the
    time anyway, and those add up in a fixed order.
    """
    return _controller().limit(limits=1, user_api="blas")


def lacks_threads(error: BaseException) -> bool:
    """Tell whether a library could start no thread: a shortage of memory or processes, not damage."""
    told = str(error).lower()
    return "launch worker thread" in told or "can't start new thread" in told
