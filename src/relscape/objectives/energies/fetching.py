"""Asking memory for rows before they are needed.

Rows of entities are met in random order, and most of a walk over triples would be spent waiting for them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["fetch"]

_LINE = 64  # bytes that come at once
_PIECES = 8


@intrinsic
def fetch(context, rows, x):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Ask for a row, or for its first eight pieces of memory; nothing else happens.

    Pieces beyond the end of a row are the last one again. They are asked for one after another: a loop, and
    the division that tells its length, took longer than what is gained by asking.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        down, across = cgutils.unpack_tuple(builder, array.strides)
        end = builder.sub(cgutils.unpack_tuple(builder, array.shape)[1], across.type(1))
        size = context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype))
        row = builder.mul(arguments[1], down)
        flag = ir.IntType(32)
        for piece in range(_PIECES):
            begin = across.type(piece * _LINE // size)
            place = builder.select(builder.icmp_signed("<", begin, end), begin, end)
            offset = builder.add(row, builder.mul(place, across))
            at = cgutils.pointer_add(builder, array.data, offset, ir.IntType(8).as_pointer())
            kind = ir.FunctionType(ir.VoidType(), [at.type, flag, flag, flag])
            ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            builder.call(ask, [at, flag(0), flag(3), flag(1)])  # to read, soon again, data
        return context.get_dummy_value()

    return types.none(rows, types.intp), generate
