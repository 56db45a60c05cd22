"""Arrays as they are given, without what numpy and scipy would lose in silence."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from relscape.errors import DataError

__all__ = ["plain_array"]


def plain_array(X: Any) -> Any:
    """Give an array whose values can be taken as they stand; anything else is given back as it is.

    A mask is refused, since what it hides would count; whole numbers of a sparse array become floats
    before repeated entries are added up, since their sums may not fit the type of the entries.
    """
    if isinstance(X, np.ma.MaskedArray):
        hidden = int(np.ma.getmaskarray(X).sum())
        if hidden:
            raise DataError(
                f"{hidden} entries of the array are masked: fill them, such as with X.filled(0), or leave "
                "their rows or columns out."
            )
        return X.data
    if issparse(X) and X.dtype.kind in "biu":
        return X.astype(np.float64)
    return X
