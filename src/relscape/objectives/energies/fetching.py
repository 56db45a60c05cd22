"""Asking memory for rows before they are needed.

Rows of entities are met in random order, and most of a walk over triples would be spent waiting for them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from relscape.objectives.energies.norms import HELPER

__all__ = ["fetch"]

_LINE = 64  # bytes that come at once


@intrinsic
def _ask(context, rows, x, i):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Ask for the piece of memory that holds ``rows[x, i]``; nothing else happens."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        places = [builder.mul(place, step) for place, step in
                  zip(arguments[1:], cgutils.unpack_tuple(builder, array.strides), strict=True)]  # fmt: skip
        at = cgutils.pointer_add(builder, array.data, builder.add(*places), ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [at.type, flag, flag, flag])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(ask, [at, flag(0), flag(3), flag(1)])  # to read, soon again, data
        return context.get_dummy_value()

    return types.none(rows, types.intp, types.intp), generate


@njit(**HELPER)
def fetch(rows, x):  # type: ignore[no-untyped-def]
    """Ask for a row."""
    for i in range(0, rows.shape[1], _LINE // rows.itemsize):
        _ask(rows, x, i)
