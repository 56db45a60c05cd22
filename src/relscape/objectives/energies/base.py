"""What an energy of a knowledge-graph model is made of.

Every model keeps its numbers in four arrays, so that one engine can train them all:

============== ==================================================================================
``entities``   one row an entity
``relations``  one row a relation: its vector, then its matrices or further vectors, laid out flat
``shared``     one single row of what all triples share (weights of SME and LFM), often empty
``fixed``      one row a relation of what is not learnt (the weight of TransM), often without columns
============== ==================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from relscape.errors import ParameterError
from relscape.objectives.energies.loop import BALL, DECAY, FREE, SOFT, UNIT, Model, apply_rows
from relscape.objectives.energies.norms import norm_tag
from relscape.protocols import FloatArray, IntArray

__all__ = ["RULES", "Energy", "Params", "Pull", "Settings", "Sizes", "assemble"]

Params: TypeAlias = dict[str, FloatArray]
Pull: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]
Scorer: TypeAlias = Callable[[Params, IntArray, IntArray, "Settings"], FloatArray]
Many: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray, "Settings"], tuple[FloatArray, Pull]]
RULES = {"free": FREE, "unit": UNIT, "soft": SOFT, "ball": BALL, "decay": DECAY}


class Settings(NamedTuple):
    """What an energy takes besides parameters: one number (ξ, α; mostly 0), and the norm by its tag."""

    number: float
    norm: tuple[int, ...]


@dataclass(frozen=True)
class Sizes:
    """How many numbers a model has.

    Parameters
    ----------
    n_entities, n_relations : int
    k : int
        Length of a relation's vector (of its complex numbers in ComplEx and RotatE).
    d : int, optional
        Length of an entity's row where a model allows another one than ``k`` (TransR, CTransR, SME).
    rank : int, optional
        Number of latent factors of LFM; ``k`` if not given.
    clusters : int
        The most vectors a relation of CTransR may have.
    """

    n_entities: int
    n_relations: int
    k: int
    d: int | None = None
    rank: int | None = None
    clusters: int = 5

    def __post_init__(self) -> None:
        for name in ("n_entities", "n_relations", "k", "d", "rank", "clusters"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ParameterError(f"{name}={value}: expected a whole number of at least 1.")

    @property
    def entity(self) -> int:
        """Give the length of an entity's row in the models that let it differ."""
        return self.d or self.k


@dataclass(frozen=True, eq=False)
class Energy:
    """One model: how it begins, what it says of a triple, how it learns, and how it scores all at once.

    Parameters
    ----------
    name : str
    start : callable
        ``start(sizes, rng) -> Params`` in double precision.
    value, add_gradient, sweep, values, pulls : compiled functions
        See :mod:`relscape.objectives.energies.loop`.
    tails_of, heads_of : callable
        ``tails_of(params, heads, relations, settings)`` gives the energies (Q × N_e) of all tails,
        ``heads_of(params, relations, tails, settings)`` of all heads. Queries sorted by relation are fastest.
    norms : tuple of str
        The norms it can use, the default first; none for products.
    entity_rule, relation_rule, shared_rule : str
        What keeps rows from growing: one of :data:`RULES`.
    extra : str, optional
        The name of the model's one further number, with its default in ``defaults``.
    defaults : mapping
        Weights of the penalties (``lambda1``, ``lambda2``) and the like.
    prepare : callable, optional
        ``prepare(params, triples, rng)`` works out before training what is counted from the training triples,
        in place, and gives each of them its hint, if there are any.
    penalty : callable, optional
        ``penalty(params, relations) -> rows``: gradient of a further penalty of relations, times ``lambda1``.
    tidy : callable, optional
        ``tidy(params, batch)``: hard constraints of the rows a batch touched, in place.
    expand, pull_back : callable, optional
        For models whose relation rows are worked out from others before a batch (SMEBilinear):
        ``expand(params, relations) -> rows`` as ``value`` wants them, and ``pull_back(params, relations,
        gradient) -> (relation gradient, shared gradient)``.
    many_tails, many_heads : callable, optional
        ``many_tails(heads, relations, candidates, settings) -> (energies, pull)`` on rows, by matrix
        products; ``pull(weights)`` gives the gradients of the weighted sum of energies for the three.
        ``many_heads`` takes ``(tails, relations, candidates, settings)`` and answers in that order.
    many_norms : tuple of str, optional
        The norms these two can use; all of ``norms`` unless given.
    """

    name: str
    start: Callable[[Sizes, np.random.Generator], Params]
    value: Any
    add_gradient: Any
    sweep: Any
    values: Any
    pulls: Any
    tails_of: Scorer
    heads_of: Scorer
    norms: tuple[str, ...] = ()
    entity_rule: str = "unit"
    relation_rule: str = "free"
    shared_rule: str = "free"
    extra: str | None = None
    defaults: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    prepare: Callable[[Params, IntArray, np.random.Generator], IntArray | None] | None = None
    penalty: Callable[[Params, IntArray], FloatArray] | None = None
    tidy: Callable[[Params, Any], None] | None = None
    expand: Callable[[Params, IntArray], FloatArray] | None = None
    pull_back: Callable[[Params, IntArray, FloatArray], tuple[FloatArray, FloatArray]] | None = None
    many_tails: Many | None = None
    many_heads: Many | None = None
    many_norms: tuple[str, ...] | None = None

    def settings(self, norm: str | None = None, number: float | None = None) -> Settings:
        """Give what the energy's functions take: the norm and, where the model has one, its number."""
        if norm is not None and not self.norms:
            raise ParameterError(f"norm={norm!r}: {self.name} has no norm; leave it out.")
        tag = norm_tag(norm or self.norms[0], self.norms) if self.norms else (0,)
        if self.extra is None:
            return Settings(0.0, tag)
        value = self.defaults[self.extra] if number is None else number
        if not (np.isfinite(value) and value > 0):
            raise ParameterError(f"{self.extra}={value}: {self.name} needs a positive number.")
        return Settings(float(value), tag)

    def energies(
        self, params: Params, triples: IntArray, settings: Settings, hints: IntArray | None = None
    ) -> FloatArray:
        """Give the energies of triples of head, relation and tail numbers."""
        triples = np.ascontiguousarray(triples, dtype=np.int64)
        known = np.full(len(triples), -1, dtype=np.int64) if hints is None else hints
        if self.expand is None:
            return np.asarray(self.values(self.model(params, settings), triples, known))
        used, local = np.unique(triples[:, 1], return_inverse=True)
        triples = np.column_stack([triples[:, 0], local, triples[:, 2]])
        return np.asarray(self.values(self.model(params, settings, used), triples, known))

    def model(self, params: Params, settings: Settings, relations: IntArray | None = None) -> Model:
        """Hand parameters to compiled code.

        With ``relations``, only those, in this order and as the energy's functions want them.
        """
        rows, fixed = params["relations"], params["fixed"]
        if relations is not None:
            rows = rows[relations] if self.expand is None else self.expand(params, relations)
            fixed = fixed[relations]
        return Model(params["entities"], rows, params["shared"], fixed, *settings)

    def rules(self, entity_rule: str | None = None) -> tuple[int, int, int]:
        """Give the numbers of the rules for entities, relations and what is shared."""
        chosen = entity_rule or self.entity_rule
        if chosen not in RULES:
            raise ParameterError(f"entity_rule={chosen!r}: expected one of {', '.join(RULES)}.")
        return RULES[chosen], RULES[self.relation_rule], RULES[self.shared_rule]

    def decays(self, rule: int) -> bool:
        """Say whether a rule pulls rows towards the origin."""
        return rule == DECAY

    def apply(
        self, rows: FloatArray, sums: FloatArray, marks: IntArray, squares: FloatArray, how: Any
    ) -> None:
        """Move the rows met in a batch along their summed gradients, see ``apply_rows``."""
        apply_rows(rows, sums, marks, squares, how)


def assemble(
    entities: FloatArray,
    relations: FloatArray,
    shared: FloatArray | None = None,
    fixed: FloatArray | None = None,
) -> Params:
    """Gather a model's arrays; what is not given is empty."""
    return {
        "entities": np.ascontiguousarray(entities),
        "relations": np.ascontiguousarray(relations),
        "shared": np.ascontiguousarray(np.zeros((1, 0)) if shared is None else shared.reshape(1, -1)),
        "fixed": np.zeros((len(relations), 0)) if fixed is None else np.ascontiguousarray(fixed),
    }
