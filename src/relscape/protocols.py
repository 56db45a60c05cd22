"""Array aliases and the interfaces between the rooms of the house. Imports nothing of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    SparseArray: TypeAlias = csr_array
else:
    SparseArray = Any

FloatArray: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.integer[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
TextArray: TypeAlias = NDArray[np.object_]
AnyArray: TypeAlias = NDArray[Any]


@runtime_checkable
class Source(Protocol):
    """Anything outside that can be read into relational data."""

    def read(self) -> Any:
        """Read everything and return a ``RelationalData``."""
        ...


@runtime_checkable
class RelationOperator(Protocol):
    """A nonnegative relation of m row objects and n column objects, seen only through products.

    The spectral models and CODE are written against this, so that a relation spread over many
    machines can stand in for a local sparse array.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Give the number of row objects and of column objects."""
        ...

    def row_sums(self) -> FloatArray:
        """Sum over columns, one value a row object."""
        ...

    def column_sums(self) -> FloatArray:
        """Sum over rows, one value a column object."""
        ...

    def matmat(self, right: FloatArray) -> FloatArray:
        """Multiply by an array of n rows from the right: ``R @ right``."""
        ...

    def rmatmat(self, left: FloatArray) -> FloatArray:
        """Multiply the transpose by an array of m rows: ``R.T @ left``."""
        ...

    def row_blocks(self, rows: int) -> Iterator[tuple[slice, SparseArray]]:
        """Walk over the relation in sparse blocks of at most ``rows`` rows, in order."""
        ...


@runtime_checkable
class NormalRelation(RelationOperator, Protocol):
    """A relation that multiplies by its weighted Gram matrix in one pass over itself."""

    def normal(self, right: FloatArray, row_weights: FloatArray) -> FloatArray:
        """Multiply ``Rᵀ D(row_weights) R`` by a vector, in one go."""
        ...


@runtime_checkable
class BlockedRelation(NormalRelation, Protocol):
    """A relation that lies in row blocks, perhaps on other machines, and lets work come to them.

    Functions are called as ``function(block, *parts, *shared)``: the block in CSR, its rows of every array in
    ``along`` (each of m rows), and what all blocks get alike. They must not change what they are given.
    """

    @property
    def n_blocks(self) -> int:
        """Give the number of row blocks."""
        ...

    def map_blocks(
        self, function: Callable[..., Any], *shared: Any, along: Sequence[AnyArray] = ()
    ) -> list[Any]:
        """Call a function on every block and give the results in the order of rows."""
        ...

    def sum_blocks(
        self, function: Callable[..., Any], *shared: Any, along: Sequence[AnyArray] = ()
    ) -> tuple[FloatArray, ...]:
        """Call a function that gives a tuple of arrays, and add these up over the blocks in a fixed order."""
        ...

    def map_pieces(
        self, function: Callable[..., Any], pieces: Sequence[tuple[Any, ...]], *shared: Any
    ) -> list[Any]:
        """Call ``function(*piece, *shared)`` on pieces of work that belong to no block, in order."""
        ...


@runtime_checkable
class BlockedTable(Protocol):
    """A table of features, one row a thing, in row blocks to which functions come as they do there."""

    fingerprint: str

    @property
    def shape(self) -> tuple[int, int]:
        """Give the number of things and of features."""
        ...

    def map_blocks(
        self, function: Callable[..., Any], *shared: Any, along: Sequence[AnyArray] = ()
    ) -> list[Any]:
        """Call a function on every block and give the results in the order of rows."""
        ...

    def sum_blocks(
        self, function: Callable[..., Any], *shared: Any, along: Sequence[AnyArray] = ()
    ) -> tuple[FloatArray, ...]:
        """Call a function that gives a tuple of arrays, and add these up over the blocks in a fixed order."""
        ...


@runtime_checkable
class Objective(Protocol):
    """Something to be minimised."""

    def value_and_gradient(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Give the value at a point, and the gradient in the point's own shape."""
        ...


@runtime_checkable
class BatchObjective(Objective, Protocol):
    """Something to be minimised that can also be looked at in parts, such as some of its samples."""

    def value_and_gradient_of(self, point: FloatArray, terms: IntArray) -> tuple[float, FloatArray]:
        """Give value and gradient of the objective made of these terms only, named by their numbers."""
        ...


@runtime_checkable
class Manifold(Protocol):
    """The set a solver may move on: which directions are allowed, and how to walk along one."""

    def project(self, point: FloatArray, vector: FloatArray) -> FloatArray:
        """Give the nearest tangent direction at a point; a gradient becomes the one along the set."""
        ...

    def retract(self, point: FloatArray, tangent: FloatArray) -> FloatArray:
        """Walk from a point along a tangent direction and land on the set again."""
        ...

    def repair(self, point: FloatArray) -> FloatArray:
        """Bring a point that has left the set back to it; a point of the set comes back as it is."""
        ...


@runtime_checkable
class Callback(Protocol):
    """Watches a solver at work."""

    def __call__(self, iteration: int, value: float, point: FloatArray) -> bool:
        """See where the solver is; True stops it."""
        ...
