"""AnnData for the tools of single cells: one kind as obs, the other as var, coordinates beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from relscape.errors import MissingExtraError, ParameterError
from relscape.maps.group import Group
from relscape.maps.naming import distinct
from relscape.protocols import AnyArray

if TYPE_CHECKING:
    from relscape.maps.map import Map

__all__ = ["is_our_anndata", "write_anndata"]

_COORDINATES, _LAYOUT, _TOLD = "X_relscape", "X_layout", "relscape"


def write_anndata(map_: Map, path: Path) -> None:
    """Write a map of one kind as obs, or of two as obs and var, with the relation between them as X.

    ``obsm`` and ``varm`` hold the coordinates, as X_relscape, and the picture, as X_layout; further
    relations between the two are layers, relations within a kind are in ``obsp`` and ``varp``.
    """
    try:
        import anndata
    except ImportError as error:
        raise MissingExtraError("anndata", "anndata", "exporting a map as anndata") from error
    if len(map_.groups) > 2:
        raise ParameterError(
            f"anndata has room for two kinds, obs and var, and this map has {len(map_.groups)}: "
            f"{', '.join(map_.groups)}. Choose two of them (--kinds on the command line, in Python "
            "with_groups)."
        )
    between = [r for r in map_.relations.values() if r.rows != r.columns]
    obs = map_.group(between[0].rows if between else map_.groups[0])
    var = next((map_.group(kind) for kind in map_.groups if kind != obs.kind), None)
    matrices = [r.matrix if r.rows == obs.kind else r.matrix.T for r in between]
    names = _keys(r.name for r in between)
    told = anndata.AnnData(
        X=csr_matrix(matrices[0]) if matrices else None,
        obs=_frame(obs),
        var=_frame(var),
        obsm=_places(obs),
        varm={} if var is None else _places(var),
        layers={name: csr_matrix(matrix) for name, matrix in zip(names[1:], matrices[1:], strict=True)},
        obsp=_within(map_, obs.kind),
        varp={} if var is None else _within(map_, var.kind),
        uns={
            _TOLD: {
                "model": map_.model,
                "obs": obs.kind,
                "var": "" if var is None else var.kind,
                "relation": between[0].name if between else "",
                "layout": json.dumps(map_.drawn_by, default=str),
            }
        },
    )
    told.write_h5ad(path)


def is_our_anndata(path: Path) -> bool:
    """Tell whether a file is an exported AnnData."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            return f"uns/{_TOLD}" in file
    except OSError:
        return False


def _frame(group: Group | None) -> Any:
    """Lay out what is known of each thing, by id; no group gives a frame without rows."""
    import pandas as pd

    if group is None:
        return pd.DataFrame(index=pd.Index([], dtype=object))
    columns: dict[str, Any] = {} if group.labels is None else {"label": group.labels}
    columns |= group.fields
    named = zip(_keys(columns), columns.values(), strict=True)
    index = pd.Index(group.ids.tolist(), dtype=object)
    return pd.DataFrame({name: _column(values) for name, values in named}, index=index)


def _column(values: AnyArray) -> Any:
    """Keep numbers and truth values; all else becomes text, in categories where something is missing."""
    import pandas as pd

    if values.dtype.kind in "biuf":
        return values
    missing = pd.isna(values)
    texts = [None if gone else str(value) for value, gone in zip(values, missing, strict=True)]
    return pd.Categorical(texts) if missing.any() else np.array(texts, dtype=object)


def _places(group: Group) -> dict[str, Any]:
    return {_COORDINATES: group.coordinates, _LAYOUT: group.drawn}


def _within(map_: Map, kind: str) -> dict[str, Any]:
    inside = [r for r in map_.relations.values() if r.rows == r.columns == kind]
    names = _keys(relation.name for relation in inside)
    return {name: csr_matrix(csr_array(r.matrix)) for name, r in zip(names, inside, strict=True)}


def _keys(names: Iterable[str]) -> list[str]:
    """Give names that HDF5 can hold: without slashes, not empty, not one that AnnData keeps for itself."""
    plain = [name.replace("/", "_") for name in names]
    return distinct([f"field_{name}" if name in {"", ".", "_index"} else name for name in plain])
