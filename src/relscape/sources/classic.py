"""Small contingency tables of the literature, as published: good for a first map and for checking."""

from __future__ import annotations

import numpy as np

from relscape.data import EntitySet, Relation, RelationalData
from relscape.protocols import TextArray

__all__ = ["load_caithness", "load_hair_eye", "load_smoking"]


def load_smoking() -> RelationalData:
    """Give the smoking habits of 193 employees by staff group (5 × 4).

    Kinds "staff" and "smoking", relation "counts". The ids of the staff groups are the usual short ones,
    their labels say what they mean.

    References
    ----------
    M. J. Greenacre (1984), *Theory and Applications of Correspondence Analysis*. Academic Press.

    Examples
    --------
    >>> load_smoking().matrix().sum()
    np.float64(193.0)
    """
    staff = {
        "SM": "senior managers",
        "JM": "junior managers",
        "SE": "senior employees",
        "JE": "junior employees",
        "SC": "secretaries",
    }
    counts = [[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]]
    rows = EntitySet("staff", _text(list(staff)), labels=_text(list(staff.values())))
    return _table(counts, rows, EntitySet("smoking", _text(["none", "light", "medium", "heavy"])))


def load_hair_eye() -> RelationalData:
    """Give the hair and eye colour of 592 students (4 × 4): kinds "hair" and "eye", relation "counts".

    References
    ----------
    R. D. Snee (1974), Graphical display of two-way contingency tables. *The American Statistician* 28.

    Examples
    --------
    >>> load_hair_eye().matrix().sum()
    np.float64(592.0)
    """
    counts = [[68, 20, 15, 5], [119, 84, 54, 29], [26, 17, 14, 14], [7, 94, 10, 16]]
    rows = EntitySet("hair", _text(["black", "brown", "red", "blond"]))
    return _table(counts, rows, EntitySet("eye", _text(["brown", "blue", "hazel", "green"])))


def load_caithness() -> RelationalData:
    """Give the eye and hair colour of 5,387 schoolchildren in Caithness (4 × 5).

    Kinds "eye" and "hair", relation "counts".

    References
    ----------
    R. A. Fisher (1940), The precision of discriminant functions. *Annals of Eugenics* 10.

    Examples
    --------
    >>> load_caithness().matrix().sum()
    np.float64(5387.0)
    """
    counts = [
        [326, 38, 241, 110, 3],
        [688, 116, 584, 188, 4],
        [343, 84, 909, 412, 26],
        [98, 48, 403, 681, 85],
    ]
    rows = EntitySet("eye", _text(["blue", "light", "medium", "dark"]))
    return _table(counts, rows, EntitySet("hair", _text(["fair", "red", "medium", "dark", "black"])))


def _text(names: list[str]) -> TextArray:
    return np.array(names, dtype=object)


def _table(counts: list[list[int]], rows: EntitySet, columns: EntitySet) -> RelationalData:
    matrix = np.array(counts, dtype=np.float64)
    return RelationalData([rows, columns], [Relation("counts", rows.kind, columns.kind, matrix)])
