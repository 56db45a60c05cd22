"""Relations that fall into blocks which nothing connects: what to place, and on which map."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from relscape.errors import ParameterError, RelscapeWarning
from relscape.maps import Map
from relscape.matrix.components import relation_components
from relscape.matrix.selecting import selected
from relscape.models.base import CoEmbeddingModel, Part
from relscape.models.checks import check_choice
from relscape.protocols import IntArray, RelationOperator, SparseArray

__all__ = ["BlockwiseModel"]

RULES = ("largest", "each", "joint")


class BlockwiseModel(CoEmbeddingModel):
    """Base of the models with a ``components`` parameter: "largest", "each" or "joint".

    ``row_component_`` and ``column_component_`` number the blocks, 0 the largest, -1 for objects
    without any relation.
    """

    components: str
    row_component_: IntArray
    column_component_: IntArray

    def _parts(self, relation: RelationOperator) -> Iterator[Part]:
        """Walk over the parts to embed, the largest first; objects of other blocks become undefined."""
        check_choice("components", self.components, RULES)
        if self.components == "joint":
            self.row_component_ = np.where(self.row_defined_, 0, -1)
            self.column_component_ = np.where(self.column_defined_, 0, -1)
            yield self._defined_part(relation)
            return
        self.row_component_, self.column_component_ = relation_components(relation)
        blocks = int(self.row_component_.max()) + 1
        if self.components == "largest" and blocks > 1:
            self._leave_out_small_blocks(blocks)
        whole = blocks == 1 and self.row_defined_.all() and self.column_defined_.all()
        for block in range(1 if self.components == "largest" else blocks):
            if whole:
                yield Part(slice(None), slice(None), relation)
                return
            rows = np.flatnonzero(self.row_component_ == block)
            columns = np.flatnonzero(self.column_component_ == block)
            yield Part(rows, columns, selected(relation, rows, columns))

    def _leave_out_small_blocks(self, blocks: int) -> None:
        rows, columns = self.row_component_ > 0, self.column_component_ > 0
        warnings.warn(
            f"the relation falls into {blocks} blocks that nothing connects; {rows.sum()} "
            f"{self.row_entities_.kind} and {columns.sum()} {self.column_entities_.kind} objects outside the "
            "largest get no place (components='each' gives every block a map of its own).",
            RelscapeWarning,
            stacklevel=5,
        )
        self.row_defined_, self.column_defined_ = self.row_defined_ & ~rows, self.column_defined_ & ~columns

    def _within_one_block(self, new: SparseArray, component: IntArray) -> SparseArray:
        """Keep of every new object only the relations to the block where most of its weight lies.

        Where blocks share a map, or only one has a place, all relations to placed objects count.
        """
        blocks = int(component.max()) + 1
        if self.components != "each" or blocks == 1:
            return new
        known = np.flatnonzero(component >= 0)
        indicator = csr_array(
            (np.ones(known.size), (known, component[known])), shape=(component.size, blocks)
        )
        home = np.asarray((new @ indicator).argmax(axis=1)).ravel()
        entries = new.tocoo()
        keep = component[entries.coords[1]] == home[entries.coords[0]]
        return csr_array((entries.data[keep], tuple(c[keep] for c in entries.coords)), shape=new.shape)

    def to_map(self) -> Map:
        """Give the map of both kinds; a relation in several blocks has ``to_maps`` instead."""
        check_is_fitted(self)
        blocks = int(self.row_component_.max()) + 1
        if self.components == "each" and blocks > 1:
            raise ParameterError(
                f"the relation has {blocks} blocks, each on a map of its own: use to_maps(), "
                "or components='largest' for one map."
            )
        return super().to_map()

    def to_maps(self) -> list[Map]:
        """Give one map a block, the largest first."""
        check_is_fitted(self)
        if self.components != "each":
            return [self.to_map()]
        return [
            self._map_of(self.row_component_ == block, self.column_component_ == block)
            for block in range(int(self.row_component_.max()) + 1)
        ]
