"""Columns: numbers and texts as the raw bytes that a page reads without parsing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from relscape.protocols import AnyArray, FloatArray

__all__ = ["NONE", "Column", "Rounded", "numbers", "rounded", "texts"]

NONE = 0xFFFFFFFF  # where a thing has no class or cohort
STEPS = 65_535  # of a number in 16 bits

# All little-endian, whatever the machine.
_TYPES = {"f32": "<f4", "f64": "<f8", "u32": "<u4", "u16": "<u2"}


@dataclass(frozen=True, eq=False)
class Column:
    """Values laid end to end, row by row: numbers of a type, or for "utf8" a JSON array of texts."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    def describe(self) -> dict[str, Any]:
        """Say what a reader of the bytes has to know."""
        described: dict[str, Any] = {"dtype": self.dtype, "length": int(np.prod(self.shape))}
        return described | ({"shape": list(self.shape)} if len(self.shape) > 1 else {})


class Rounded(NamedTuple):
    """Numbers in 16 bits: about ``offset + scale * codes``, scale and offset for each column or for all."""

    codes: AnyArray
    scale: AnyArray
    offset: AnyArray

    def values(self) -> FloatArray:
        """Give the numbers that a reader sees."""
        return np.asarray(self.offset + self.scale * self.codes.astype(np.float64))


def numbers(values: AnyArray, dtype: str) -> Column:
    """Lay an array out as numbers of a type."""
    return Column(dtype, values.shape, np.ascontiguousarray(values, dtype=_TYPES[dtype]).tobytes())


def texts(values: Iterable[str | None]) -> Column:
    """Lay texts out as a JSON array, null where there is none."""
    listed = list(values)
    encoded = json.dumps(listed, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
    return Column("utf8", (len(listed),), encoded)


def rounded(values: FloatArray, axis: int | None = None) -> Rounded:
    """Round numbers to 16 bits, between the least and the largest of all, or along an axis."""
    exact = np.asarray(values, dtype=np.float64)
    if exact.size == 0:
        return Rounded(np.zeros(exact.shape, dtype=np.uint16), np.zeros(()), np.zeros(()))
    low, high = exact.min(axis=axis), exact.max(axis=axis)
    scale = np.asarray((high - low) / STEPS)
    codes = np.rint((exact - low) / np.where(scale > 0, scale, 1.0))
    return Rounded(np.clip(codes, 0, STEPS).astype(np.uint16), scale, np.asarray(low))
