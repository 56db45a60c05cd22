"""What a person writes after ``name=`` on the command line, as a value of Python."""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["plain_value"]

_FLAGS = {"true": True, "yes": True, "false": False, "no": False}


def plain_value(text: str, flag: bool = False) -> Any:
    """Read a number, a list, None or True as Python writes it; anything else is text.

    A flag is also said by yes or no; elsewhere these are texts, which may be names.
    """
    if flag and text.lower() in _FLAGS:
        return _FLAGS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # all that it raises
        return text
