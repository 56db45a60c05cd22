"""Reading requests: parameters and bodies within limits, and mistakes told as mistakes."""

from __future__ import annotations

import ipaddress

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from relscape.errors import ParameterError
from relscape.explorer.security import LARGEST_BODY

__all__ = ["asked_for", "body_of", "comes_from_afar", "share", "whole"]

_MOST_DIGITS = 15


def asked_for(request: Request, *known: str) -> dict[str, str]:
    """Read the parameters of a request; one that is unknown or given twice is refused."""
    pairs = request.query_params.multi_items()
    for name, _ in pairs:
        if name not in known:
            raise ParameterError(f"{name!r} is no parameter here; expected {', '.join(known)}.")
    asked = dict(pairs)
    if len(asked) < len(pairs):
        raise ParameterError("a parameter is given twice; give each once.")
    return asked


def whole(
    asked: dict[str, str], name: str, usual: int | None = None, most: int | None = None, least: int = 0
) -> int:
    """Read a whole number, the usual one where none is given."""
    text = asked.get(name)
    if text is None and usual is not None:
        return usual
    if text is None or not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS):
        raise ParameterError(f"{name}={text or ''}: give a whole number.")
    value = int(text)
    if value < least or (most is not None and value > most):
        raise ParameterError(f"{name}={value}: give a number from {least} to {most}.")
    return value


def share(asked: dict[str, str], name: str) -> float | None:
    """Read a number from 0 to 1, where one is given."""
    if name not in asked:
        return None
    try:
        value = float(asked[name])
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise ParameterError(f"{name}={asked[name]}: give a number from 0 to 1.")
    return value


async def body_of(request: Request) -> bytes:
    """Read the body of a request, as far as it may go."""
    parts, size = [], 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > LARGEST_BODY:
                raise HTTPException(413, f"a request may carry {LARGEST_BODY} bytes at most.")
            parts.append(part)
    except ClientDisconnect as error:
        raise HTTPException(400, "the request was broken off.") from error
    return b"".join(parts)


def comes_from_afar(request: Request) -> bool:
    """Tell whether a network lies between, so that packing an answer saves something."""
    if request.client is None:
        return True
    try:
        return not ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return True
