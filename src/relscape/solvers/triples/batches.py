"""The bundles of arrays that the engine hands to compiled loops, and what it asks of an energy."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeAlias

from relscape.protocols import FloatArray, IntArray

__all__ = ["MOVED", "Batch", "Params", "Step", "Sums", "TrainableEnergy"]

Params: TypeAlias = dict[str, FloatArray]
MOVED = 2  # the mark of a row that has a gradient


class Batch(NamedTuple):
    """Some triples and their corruptions.

    ``others[i, j]`` replaces the head (``sides`` 0) or the tail (1) of triple i; a side of −1 is no
    corruption.
    """

    triples: IntArray
    hints: IntArray
    weights: FloatArray
    others: IntArray
    sides: IntArray


class Sums(NamedTuple):
    """Where gradients are added up, and which rows were met.

    ``own`` (three rows of zeros) is for the entities of one triple, head, tail and corruption, ``found`` (a
    number for each of its corruptions, and one for itself) for their energies: work space of the loop.
    """

    entities: FloatArray
    relations: FloatArray
    shared: FloatArray
    entity_marks: IntArray
    relation_marks: IntArray
    own: FloatArray
    found: FloatArray


class Step(NamedTuple):
    """How rows move along the way in lock-free training (``window`` > 0).

    Entities move after every triple, relations and what is shared every ``window`` triples. Without a window
    gradients are only added up. Squares are Adagrad's; plain descent never looks at them.
    """

    window: int
    rate: float
    clip: float
    adagrad: bool
    entity_rule: int
    entity_weight: float
    relation_weight: float
    shared_weight: float
    entity_squares: FloatArray
    relation_squares: FloatArray
    shared_squares: FloatArray


class TrainableEnergy(Protocol):
    """What the engine asks of an energy; :mod:`relscape.objectives.energies.base` explains each."""

    @property
    def name(self) -> str:
        """Give the model's name."""
        ...

    @property
    def sweep(self) -> Any:
        """Walk over a batch: compiled."""
        ...

    @property
    def pulls(self) -> Any:
        """Add up weighted gradients: compiled."""
        ...

    @property
    def extra(self) -> str | None:
        """Name the further number, if there is one."""
        ...

    @property
    def defaults(self) -> Any:
        """Give the default weights of penalties."""
        ...

    @property
    def penalty(self) -> Any:
        """Give the gradient of a further penalty of relations."""
        ...

    @property
    def tidy(self) -> Any:
        """Keep hard constraints of what a batch touched."""
        ...

    @property
    def expand(self) -> Any:
        """Work out relation rows before a batch."""
        ...

    @property
    def pull_back(self) -> Any:
        """Turn their gradients back."""
        ...

    @property
    def norms(self) -> tuple[str, ...]:
        """Name the norms it can use, the default first."""
        ...

    @property
    def many_norms(self) -> tuple[str, ...] | None:
        """Name the norms that shared candidates can be scored by, if not all can."""
        ...

    @property
    def many_tails(self) -> Any:
        """Score shared candidates as tails."""
        ...

    @property
    def many_heads(self) -> Any:
        """Score shared candidates as heads."""
        ...

    def decays(self, rule: int) -> bool:
        """Say whether a rule pulls rows towards the origin."""
        ...

    def settings(self, norm: str | None = None, number: float | None = None) -> Any:
        """Give the norm and the further number, checked."""
        ...

    def rules(self, entity_rule: str | None = None) -> tuple[int, int, int]:
        """Give the numbers of the rules for entities, relations and what is shared."""
        ...

    def energies(
        self, params: Params, triples: IntArray, settings: Any, hints: IntArray | None = None
    ) -> FloatArray:
        """Give the energies of triples."""
        ...

    def model(self, params: Params, settings: Any, relations: IntArray | None = None) -> Any:
        """Hand parameters to compiled code, with the rows of these relations only if they are given."""
        ...

    def apply(
        self, rows: FloatArray, sums: FloatArray, marks: IntArray, squares: FloatArray, how: Any
    ) -> None:
        """Move the rows met in a batch along their summed gradients."""
        ...
