"""What all guided projections share: the computation, new things, maps, saving and loading."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from relscape.data import EntitySet, Relation, RelationalData
from relscape.errors import DataError, RelscapeWarning, UnknownNameError, listing
from relscape.maps import Map
from relscape.matrix.guided import guidance_components, guidance_costs
from relscape.matrix.kernels import KernelMap
from relscape.matrix.spread_features import spread_product
from relscape.models.base import group_of
from relscape.models.checks import check_dimensions, check_flags, check_number, generator
from relscape.models.projection_core import CoreSettings, solve_projection
from relscape.models.projection_inputs import GivenKinds, KindTable, read_new_kind
from relscape.models.relations import separate_kinds
from relscape.models.saving import SavedModel
from relscape.models.state import model_state, plain_parameters
from relscape.protocols import BlockedTable, FloatArray, SparseArray
from relscape.threads import one_thread

__all__ = ["REGULARIZATION", "ProjectionModel", "relative_ridges"]

REGULARIZATION = 1e-3
_PACKAGES = ("relscape", "numpy", "scipy", "scikit-learn")
_NULL = 1e-9  # an axis smaller than this, relative to the largest, puts all things in one place
_NOTHING = 1e-11  # the largest itself is below this only where nothing varies, whatever the ridge


class ProjectionModel(SavedModel, BaseEstimator):  # type: ignore[misc]
    """Base of the models that learn one linear map a kind into a common space, from guidance.

    A subclass has the parameters ``n_components``, ``regularization``, ``center`` and ``random_state``, and a
    ``fit`` that reads what it is given and calls ``_project``. Learned things are kept flat, as files keep
    them: kinds and blocks by their number. What a person asks for by name are views of it.
    """

    n_components: int
    regularization: Any
    center: bool
    random_state: Any
    kinds_: list[str]
    guided_pairs_: list[list[str]]
    eigenvalues_: FloatArray
    strengths_: FloatArray
    costs_: FloatArray
    n_components_of_guidance_: int
    data_fingerprint_: str

    # ------------------------------------------------------------------ fitting

    def _settings(self, given: GivenKinds) -> CoreSettings:
        """Say how to compute, for these kinds."""
        return CoreSettings(
            self.n_components,
            relative_ridges(self.regularization, list(given.tables), given.left_out),
            center=getattr(self, "center", True),
        )

    def _project(self, given: GivenKinds) -> None:
        check_dimensions("n_components", self.n_components)
        check_flags(self, "center")
        kinds = list(given.tables)
        settings = self._settings(given)
        rng = generator(self.random_state)
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        with one_thread():  # sums over several threads would end in other last digits
            found = solve_projection(given.tables, given.blocks, settings, rng)
            places = {
                kind: _placed(given.tables[kind], found.kinds[kind].kernel, *found.kinds[kind][:2])
                for kind in kinds
            }
            costs = guidance_costs(given.blocks, places)
        kept = self._worthwhile(found.eigenvalues, places, found.degrees, settings)
        self.kinds_ = kinds
        for number, kind in enumerate(kinds):
            mean, weights, kernel = found.kinds[kind]
            table = given.tables[kind]
            parts: dict[str, Any] = {"entities": table.entities, "columns": table.columns, "kernel": kernel}
            parts |= {"mean": mean, "weights": np.ascontiguousarray(weights[:, kept])}
            parts |= {"embedding": np.ascontiguousarray(places[kind][:, kept])}
            parts |= {"degree": found.degrees[kind], "ridge": float(found.ridges[kind])}
            for name, value in parts.items():
                setattr(self, f"kind{number}_{name}_", value)
        self.guided_pairs_ = [list(pair) for pair in given.blocks]
        for number, block in enumerate(given.blocks.values()):
            setattr(self, f"block{number}_", block)
        self.eigenvalues_ = found.eigenvalues[kept]
        self.strengths_ = 1.0 - self.eigenvalues_
        self.costs_ = costs[kept]
        self.n_components_of_guidance_ = guidance_components(
            given.blocks, {kind: len(table.entities) for kind, table in given.tables.items()}
        )
        self.data_fingerprint_ = given.fingerprint
        _warn_of_followers(settings.reference, kinds, self.guided_pairs_)

    def _worthwhile(
        self,
        eigenvalues: FloatArray,
        places: Mapping[str, FloatArray],
        degrees: Mapping[str, FloatArray],
        settings: CoreSettings,
    ) -> Any:
        """Leave out axes on which all things are in one place, and tell of axes that say nothing."""
        sizes = np.asarray(sum(degrees[kind] @ points**2 for kind, points in places.items()))
        kept = sizes > _NULL * max(sizes.max(initial=0.0), _NOTHING)
        if not kept.any():
            raise DataError(
                "the features of guided things do not vary, so there is no axis to put them on; give others."
            )
        wanted, there = self.n_components, int(kept.sum())
        useful = int((eigenvalues[kept] < 1.0 - 1e-9).sum())
        if there < wanted:
            told = f"there are only {there} axes, {wanted} were asked for; the others would be empty."
        elif useful < wanted and settings.reference is None:
            told = f"only {useful} of {wanted} axes bring together what is similar; ask for fewer."
        else:
            return kept
        warnings.warn(told, RelscapeWarning, stacklevel=4)
        return kept

    # ------------------------------------------------------------------ what was learned, by kind

    def _by_kind(self, part: str) -> dict[str, Any]:
        return {kind: getattr(self, f"kind{number}_{part}_") for number, kind in enumerate(self.kinds_)}

    @property
    def entities_(self) -> dict[str, EntitySet]:
        """The things of every kind."""
        return self._by_kind("entities")

    @property
    def embeddings_(self) -> dict[str, FloatArray]:
        """The points of every kind, one row a thing (n × k)."""
        return self._by_kind("embedding")

    @property
    def projections_(self) -> dict[str, FloatArray]:
        """P of every kind in y = (x − mean) P: one row a feature, a landmark of a kernel, or a thing."""
        return self._by_kind("weights")

    @property
    def means_(self) -> dict[str, FloatArray]:
        """The mean that is taken off first, by degrees of guidance; of a kernel, that of its columns."""
        return self._by_kind("mean")

    @property
    def ridges_(self) -> dict[str, float]:
        """The ridge of every kind, as it was added."""
        return self._by_kind("ridge")

    @property
    def degrees_(self) -> dict[str, FloatArray]:
        """The sum of |weight| of every thing, over all its pairs."""
        return self._by_kind("degree")

    @property
    def guidance_(self) -> dict[tuple[str, str], SparseArray]:
        """The weights that guided the fit, by pairs of kinds."""
        return {(a, b): getattr(self, f"block{number}_") for number, (a, b) in enumerate(self.guided_pairs_)}

    # ------------------------------------------------------------------ new things

    def _new_places(self, kind: str, given: Any) -> tuple[FloatArray, EntitySet]:
        """Place new things of one kind by their features."""
        if kind not in self.kinds_:
            raise UnknownNameError("kind", kind, self.kinds_, "this model")
        number = self.kinds_.index(kind)
        matrix, entities = read_new_kind(kind, given, getattr(self, f"kind{number}_columns_"))
        table = KindTable(entities, matrix, None)
        kernel, mean, weights = (
            getattr(self, f"kind{number}_{part}_") for part in ("kernel", "mean", "weights")
        )
        with one_thread():
            return _placed(table, kernel, mean, weights), entities

    def newcomers(self, data: Any, kind: str | None = None) -> tuple[EntitySet, FloatArray]:
        """Give new things of a kind, by default the first, and their places, for a map."""
        check_is_fitted(self)
        kind = self.kinds_[0] if kind is None else kind
        if isinstance(data, RelationalData):
            if kind not in data.entities:
                raise DataError(f"the new data has no {kind!r}; it has {', '.join(data.kinds)}.")
            data = data.entities[kind]
        points, entities = self._new_places(kind, data)
        return entities, points

    # ------------------------------------------------------------------ maps

    def to_map(self, relations: bool = True) -> Map:
        """Give the map of all kinds, with the model itself and, if asked, the guidance as relations."""
        check_is_fitted(self)
        groups = [
            group_of(things, self.embeddings_[kind], np.ones(len(things), dtype=bool), self._fields(kind))
            for kind, things in self.entities_.items()
        ]
        links = [
            Relation(f"{first}-{second}", first, second, block, directed=first != second)
            for (first, second), block in self.guidance_.items()
        ]
        return Map(
            groups,
            model=type(self).__name__,
            parameters=plain_parameters(self),
            scores={f"strength {axis + 1}": float(value) for axis, value in enumerate(self.strengths_)},
            provenance={
                "data_fingerprint": self.data_fingerprint_,
                "packages": {name: version(name) for name in _PACKAGES},
                "python": platform.python_version(),
                "random_state": plain_parameters(self).get("random_state"),
                "guidance": {
                    "pairs": {"-".join(pair): int(block.nnz) for pair, block in self.guidance_.items()},
                    "components": self.n_components_of_guidance_,
                },
            },
            drawn_by={"method": "pca" if len(self.strengths_) > 2 else "axes"},
            relations=links if relations else (),
            model_state=model_state(self),
        )

    def _fields(self, kind: str) -> dict[str, Any]:
        return {"degree": self.degrees_[kind]}


def _placed(table: KindTable, kernel: KernelMap | None, mean: FloatArray, weights: FloatArray) -> FloatArray:
    """Give (f(x) − mean) P for all rows of a table; without features every thing is its own."""
    if table.matrix is None:
        return np.asarray(weights - mean @ weights)
    given = table.matrix
    if isinstance(given, BlockedTable):
        return np.asarray(spread_product(given, weights) - mean @ weights)
    if kernel is not None:
        given = kernel.columns(given)
    return np.asarray((given @ weights) - mean @ weights)


def relative_ridges(given: Any, kinds: list[str], left_out: Sequence[str] = ()) -> dict[str, float]:
    """Read one relative ridge for all kinds, or some by kind; kinds not named have the usual one.

    Ridges of kinds that were left out are of no use, but no mistake either.
    """
    if not isinstance(given, Mapping):
        check_number("regularization", given, 0.0)
        return dict.fromkeys(kinds, float(given))
    for kind, value in given.items():
        if kind not in kinds and kind not in left_out:
            raise UnknownNameError("kind", kind, kinds, "regularization")
        check_number(f"regularization[{kind!r}]", value, 0.0)
    return {kind: float(given.get(kind, REGULARIZATION)) for kind in kinds}


def _warn_of_followers(reference: str | None, kinds: list[str], pairs: list[list[str]]) -> None:
    """Tell of kinds that no guidance connects with the reference: they all end in one place."""
    if reference is None:
        return
    near = next(group for group in separate_kinds([tuple(pair) for pair in pairs]) if reference in group)
    lost = [kind for kind in kinds if kind not in near]
    if lost:
        warnings.warn(
            f"no guidance connects {listing(lost)} with the reference {reference!r}, so all of it is put in "
            'one place; use constraint="joint", or guide it.',
            RelscapeWarning,
            stacklevel=5,
        )
