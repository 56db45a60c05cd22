"""Fitting every co-embedding there is to one relation, and keeping count of what refused."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from relscape.errors import InputError
from relscape.models.registry import METHODS
from relscape.protocols import FloatArray

__all__ = ["Placement", "coembeddings", "placed"]


@dataclass(frozen=True, eq=False)
class Placement:
    """Where one method put rows and columns, and how long it took; or why it would not.

    ``cpu_seconds`` adds up all threads and does not count waiting for others that use the machine.
    """

    method: str
    seconds: float
    cpu_seconds: float
    rows: FloatArray | None = None
    columns: FloatArray | None = None
    refusal: str = ""
    warnings: tuple[str, ...] = ()
    chosen: Mapping[str, Any] = field(default_factory=dict)


def coembeddings(only: Iterable[str] | None = None) -> list[str]:
    """Name the registered co-embeddings, all or those of a list."""
    wanted = None if only is None else set(only)
    return [
        name
        for name, entry in METHODS.items()
        if entry.family == "coembedding" and (wanted is None or name in wanted)
    ]


def placed(method: str, relation: Any, n_components: int, **options: Any) -> Placement:
    """Fit one method; options that it does not have, such as a budget of search, are left out."""
    model = METHODS[method].model_class()(n_components=n_components)
    known = model.get_params()
    model.set_params(**{name: value for name, value in options.items() if name in known})
    refusal, started, started_cpu = "", time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(relation)
        except InputError as error:
            refusal = str(error)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - started_cpu
    if refusal:
        return Placement(method, seconds, cpu_seconds, refusal=refusal)
    return Placement(
        method,
        seconds,
        cpu_seconds,
        model.row_embedding_,
        model.column_embedding_,
        warnings=tuple(dict.fromkeys(str(entry.message) for entry in caught)),
        chosen=_chosen(model),
    )


def _chosen(model: Any) -> dict[str, Any]:
    """Tell the parameters a model chose, the neighbourhoods it chose them by, and how its solver ended."""
    chosen = dict(getattr(model, "parameters_", {}))
    if hasattr(model, "search_neighbourhood_"):
        chosen["neighbourhood"] = list(model.search_neighbourhood_)
    if hasattr(model, "solve_result_"):
        chosen |= {"iterations": model.solve_result_.iterations, "converged": model.solve_result_.converged}
    return chosen
