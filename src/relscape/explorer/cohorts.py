"""A map of cohorts as it is explored: its handles, and how samples follow when one is dragged.

E1 is linear: the places of samples are its response matrix times the prototypes, plus what does not depend on
them. Where the picture is a plane of the map, the same holds of the places in the picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from relscape.data.labels import match
from relscape.errors import ParameterError
from relscape.explorer.columns import Column, numbers, rounded
from relscape.maps import Group, Map
from relscape.maps.layout import linear_picture, picture_of
from relscape.protocols import AnyArray, FloatArray, IntArray

__all__ = ["CohortView", "SentResponse", "cohort_view", "sent_response"]

COHORT = "cohort"
HANDLES = (COHORT, f"{COHORT}-prototype")
MOST_DENSE = 8_000_000  # entries of a response that is sent whole, in 16 bits
MOST_KEPT = 4_000_000  # entries of one that is sent in part
FEWEST_KEPT = 4  # largest entries of every row, at least


@dataclass(frozen=True, eq=False)
class CohortView:
    """The prototypes (c), the samples (n), the cohort of every sample (-1: none), and the response (n × c).

    Rows of samples that do not follow, such as those placed later, are zero. ``step`` (2 × k) turns a move in
    the picture into one of coordinates. ``reason`` says why nothing can be dragged, where it cannot.
    """

    handles: Group
    samples: Group
    codes: IntArray
    variant: str | None
    alpha: float | None
    response: FloatArray | None
    following: int
    step: FloatArray | None
    reason: str

    def moved(self, prototypes: FloatArray) -> FloatArray:
        """Give the coordinates of the samples for other places of the prototypes in the picture."""
        if self.response is None or self.step is None:
            raise ParameterError(f"nothing can be dragged here: {self.reason}.")
        moves = (prototypes - self.handles.drawn) @ self.step
        return np.asarray(self.samples.coordinates + self.response @ moves)

    def placed(self, prototypes: FloatArray) -> FloatArray:
        """Give the coordinates of prototypes from their places in the picture."""
        if self.step is None:
            raise ParameterError("the picture is no plane of the map, so that a place in it says too little.")
        return np.asarray(self.handles.coordinates + (prototypes - self.handles.drawn) @ self.step)


def cohort_view(map_: Map) -> CohortView | None:
    """Look at a map as one of cohorts; None where it is none."""
    handles = next((kind for kind in HANDLES if kind in map_.groups), None)
    kinds = [kind for kind in map_.groups if kind != handles and COHORT in map_.group(kind).fields]
    if handles is None or not kinds:
        return None
    samples, prototypes = map_.group(kinds[0]), map_.group(handles)
    names = ["" if name is None else str(name) for name in samples.fields[COHORT]]
    step = _step(map_)
    response, reason = _response_of(map_, samples, len(prototypes))
    if response is not None and step is None:
        response, reason = None, _no_plane(map_)
    following = 0 if response is None else int(np.abs(response).any(axis=1).sum())
    return CohortView(
        handles=prototypes,
        samples=samples,
        codes=match(names, prototypes.ids),
        variant=map_.parameters.get("variant"),
        alpha=_alpha_of(map_),
        response=response,
        following=following,
        step=step,
        reason=reason,
    )


def _alpha_of(map_: Map) -> float | None:
    learned = {} if map_.model_state is None else map_.model_state.values
    alpha: Any = learned.get("alpha_", map_.parameters.get("alpha"))
    return float(alpha) if isinstance(alpha, int | float) else None


def _step(map_: Map) -> FloatArray | None:
    """Find how a move in the picture moves coordinates; None where the picture is no plane of the map."""
    if map_.n_components < 2:
        return None
    plane = linear_picture(*picture_of(map_.group(kind) for kind in map_.groups))
    return None if plane is None else np.asarray(np.linalg.pinv(plane[:-1]))


def _no_plane(map_: Map) -> str:
    if map_.n_components < 2:
        return "the map has one dimension only"
    return "the picture is not a plane of the map: draw it by its axes or by PCA to drag cohorts"


def _response_of(map_: Map, samples: Group, c: int) -> tuple[FloatArray | None, str]:
    """Find the row of every sample in the response matrix, and say why there is none."""
    kept = map_.arrays.get("response")
    if kept is None:
        variant = map_.parameters.get("variant")
        if variant in (None, "E1"):
            return None, "this map does not carry the response matrix of COVA-E1"
        return None, f"{variant} is not linear: only E1 follows a handle at once"
    rows = _rows(map_, samples, kept)
    if rows is None or kept.shape[1] != c:
        return None, "the response matrix does not fit the samples and cohorts on this map"
    response = np.zeros((len(samples), c))
    response[rows >= 0] = kept[rows[rows >= 0]]
    if not np.isfinite(response).all():
        return None, "the response matrix has rows that are missing"
    return response, ""


def _rows(map_: Map, samples: Group, kept: AnyArray) -> IntArray | None:
    """Match samples to the rows of an array of the fit, by the ids that the model keeps, else by order."""
    if map_.model_state is not None and "row_entities_.ids" in map_.model_state.texts:
        ids = map_.model_state.texts["row_entities_.ids"]
        return match(samples.ids, ids) if len(ids) == len(kept) else None
    placed = np.flatnonzero(np.isfinite(kept).all(axis=1))
    return placed if len(placed) == len(samples) else None


class SentResponse(NamedTuple):
    """A response matrix in 16 bits: columns by name, and what to say of them.

    A page adds the response times the moves of the prototypes to the places it has, so that what is rounded
    or left out shows only in moves: a sample is off by at most ``error`` of the farthest one.
    """

    columns: dict[str, Column]
    description: dict[str, Any]
    error: float


def sent_response(view: CohortView, most_dense: int = MOST_DENSE, most_kept: int = MOST_KEPT) -> SentResponse:
    """Lay the response out for a page: all of it, or the largest entries of every row."""
    response = view.response
    if response is None:
        raise ParameterError(f"there is no response to send: {view.reason}.")
    n, c = response.shape
    columns: dict[str, Column] = {}
    if n * c <= most_dense:
        sent = rounded(response)
        seen, form = sent.values(), {"form": "dense-u16", "kept": c}
        codes = sent.codes
    else:
        kept = max(FEWEST_KEPT, min(c, most_kept // max(n, 1)))
        index = np.sort(np.argpartition(-response, min(kept, c - 1), axis=1)[:, :kept], axis=1)
        sent = rounded(np.append(np.take_along_axis(response, index, axis=1).clip(0.0).ravel(), 0.0))
        codes = sent.codes[:-1].reshape(index.shape)
        seen = np.zeros_like(response)
        np.put_along_axis(seen, index, sent.values()[:-1].reshape(index.shape), axis=1)
        columns["response-index"] = numbers(index, "u16")
        form = {"form": "top", "kept": index.shape[1], "index_column": "response-index"}
    error = float(np.abs(response - seen).sum(axis=1).max(initial=0.0))
    columns["response"] = numbers(codes, "u16")
    described = {
        "column": "response",
        **form,
        "scale": float(sent.scale),
        "offset": float(sent.offset),
        "error": error,
        "following": view.following,
    }
    return SentResponse(columns, described, error)
