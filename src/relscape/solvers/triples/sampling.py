"""Corrupted triples: which side, which entity, and never one that is known to be true.

Random numbers come from streams that are one integer each (SplitMix64), so that the state of a training run
is plain arrays and a resumed run draws exactly what the unbroken one would have drawn.
"""

# ruff: noqa: E741 (l is the link, as in the formulas)
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from relscape.errors import ParameterError
from relscape.protocols import FloatArray, IntArray

__all__ = [
    "SIDES",
    "Sampler",
    "corrupt",
    "hide_known",
    "new_streams",
    "sampler",
    "shared_entities",
    "shuffled",
]

SIDES = ("both", "uniform", "bernoulli", "tail")
_REDRAWS = 10
_BITS_PER_TRIPLE = 16


class Sampler(NamedTuple):
    """What corruptions are drawn from.

    ``keys`` are the known triples as sorted numbers, ``bits`` a small table (a Bloom filter, three bits a
    triple within one word) that says at once of nearly all others that they are not among them.
    ``head_share[l]`` is the chance that the head is replaced, −1 for heads and tails in turn. Where ``pools``
    is not empty, heads of relation l are drawn from ``pools[starts[l]:starts[l + 1]]`` and tails from the
    same of ``l + n_relations``.
    """

    n_entities: int
    n_relations: int
    filtered: bool
    keys: IntArray
    bits: IntArray
    head_share: FloatArray
    starts: IntArray
    pools: IntArray


def sampler(
    triples: IntArray,
    n_entities: int,
    n_relations: int,
    sides: str = "both",
    filter_negatives: bool = True,
    type_aware: bool = False,
) -> Sampler:
    """Prepare corruptions of training triples.

    Parameters
    ----------
    triples : array, n × 3
        Heads, relations, tails as numbers.
    n_entities, n_relations : int
    sides : str
        ``"both"``: heads and tails in turn; ``"uniform"``: by a fair coin; ``"bernoulli"``: the head with
        chance tph / (tph + hpt), so that the side with more answers is replaced more often; ``"tail"``:
        tails only, for graphs with reciprocal relations.
    filter_negatives : bool
        Draw again what is a training triple. After ten redraws the next entity that is none is taken; where
        all are, there is no corruption.
    type_aware : bool
        Draw heads among the heads seen with the relation and tails among its tails, as long as there is a fit
        one among them.
    """
    if sides not in SIDES:
        raise ParameterError(f"sides={sides!r}: expected one of {', '.join(SIDES)}.")
    if n_entities * n_relations >= 2**63 // n_entities:
        raise ParameterError(
            f"{n_entities} entities and {n_relations} relations make more triples than 64 bits can number."
        )
    heads, relations, tails = np.asarray(triples, dtype=np.int64).T
    keys = np.unique((heads * n_relations + relations) * n_entities + tails)
    size = 1 << max(10, (_BITS_PER_TRIPLE * max(1, keys.size) - 1).bit_length())
    bits = np.zeros(size // 64, dtype=np.uint64)
    _fill(bits, keys)
    starts: IntArray = np.zeros(1, dtype=np.int64)
    pools: IntArray = np.zeros(0, dtype=np.int64)
    if type_aware:
        starts, pools = _pools(np.concatenate([relations, relations + n_relations]),
                               np.concatenate([heads, tails]), 2 * n_relations, n_entities)  # fmt: skip
    share = _head_share(heads, relations, tails, n_relations, sides)
    return Sampler(n_entities, n_relations, filter_negatives, keys, bits, share, starts, pools)


def new_streams(n: int, seed: int | np.random.SeedSequence) -> IntArray:
    """Begin n independent streams of random numbers."""
    root = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return np.array([child.generate_state(1, np.uint64)[0] for child in root.spawn(n)], dtype=np.uint64)


@njit(cache=True, nogil=True)
def _next(streams, s):  # type: ignore[no-untyped-def]
    """Advance a stream and give 64 random bits."""
    streams[s] += np.uint64(0x9E3779B97F4A7C15)
    z = streams[s]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def _below(streams, s, n):  # type: ignore[no-untyped-def]
    """Draw a whole number below n (n < 2³²)."""
    return np.int64(((_next(streams, s) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def shuffled(n, streams, s):  # type: ignore[no-untyped-def]
    """Give the numbers below n in random order."""
    order = np.arange(n)
    for i in range(n - 1, 0, -1):
        j = _below(streams, s, i + 1)
        order[i], order[j] = order[j], order[i]
    return order


@njit(cache=True, nogil=True)
def shared_entities(n, n_entities, streams, s):  # type: ignore[no-untyped-def]
    """Draw n entities, some perhaps twice."""
    found = np.empty(n, dtype=np.int64)
    for i in range(n):
        found[i] = _below(streams, s, n_entities)
    return found


@njit(cache=True, nogil=True)
def _place(key, size):  # type: ignore[no-untyped-def]
    """Give the word of a table of ``size`` (a power of 2) words that a key belongs to, and its bits there."""
    z = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    z ^= z >> np.uint64(29)
    one, low = np.uint64(1), np.uint64(63)
    pattern = (
        (one << (z & low)) | (one << ((z >> np.uint64(6)) & low)) | (one << ((z >> np.uint64(12)) & low))
    )
    return (z >> np.uint64(18)) & np.uint64(size - 1), pattern


@njit(cache=True, nogil=True)
def _fill(bits, keys):  # type: ignore[no-untyped-def]
    for key in keys:
        word, pattern = _place(key, bits.shape[0])
        bits[word] |= pattern


@njit(cache=True, nogil=True)
def _is_known(keys, bits, key):  # type: ignore[no-untyped-def]
    word, pattern = _place(key, bits.shape[0])
    if bits[word] & pattern != pattern:
        return False
    at = np.searchsorted(keys, key)
    return at < keys.shape[0] and keys[at] == key


@njit(cache=True, nogil=True)
def corrupt(source, triples, n_others, streams, s):  # type: ignore[no-untyped-def]
    """Draw ``n_others`` corruptions of every triple: give the entities and the sides they replace."""
    n_entities, n_relations, filtered, keys, bits, head_share, starts, pools = source
    others = np.zeros((triples.shape[0], n_others), dtype=np.int64)
    sides = np.empty((triples.shape[0], n_others), dtype=np.int8)
    for i in range(triples.shape[0]):
        h, l, t = triples[i, 0], triples[i, 1], triples[i, 2]
        for j in range(n_others):
            side = (i * n_others + j) % 2
            if head_share[l] >= 0.0:
                side = 0 if (_next(streams, s) >> np.uint64(11)) * 2.0**-53 < head_share[l] else 1
            base = l * n_entities + t if side == 0 else (h * n_relations + l) * n_entities
            stride = n_relations * n_entities if side == 0 else 1
            own = h if side == 0 else t
            x, fit = own, False
            if pools.shape[0]:
                begin = starts[l + side * n_relations]
                size = starts[l + side * n_relations + 1] - begin
                for _ in range(_REDRAWS + 1 if size else 0):
                    x = pools[begin + _below(streams, s, size)]
                    fit = x != own and not (filtered and _is_known(keys, bits, base + stride * x))
                    if fit:
                        break
            if not fit:
                for _ in range(_REDRAWS + 1):
                    x = _below(streams, s, n_entities)
                    fit = x != own and not (filtered and _is_known(keys, bits, base + stride * x))
                    if fit:
                        break
            steps = 0
            while not fit and steps < n_entities:
                x = (x + 1) % n_entities
                fit = x != own and not (filtered and _is_known(keys, bits, base + stride * x))
                steps += 1
            others[i, j] = x
            sides[i, j] = side if fit else -1
    return others, sides


@njit(cache=True, nogil=True)
def hide_known(source, triples, candidates, side, energies):  # type: ignore[no-untyped-def]
    """Make the energy infinite of every candidate that is no corruption of a triple's head (0) or tail (1).

    It is none where it is the triple's own entity or, with filtered corruptions, makes a known triple.
    """
    n_entities, n_relations, filtered, keys, bits, _, _, _ = source
    for i in range(triples.shape[0]):
        h, l, t = triples[i, 0], triples[i, 1], triples[i, 2]
        own = h if side == 0 else t
        base = l * n_entities + t if side == 0 else (h * n_relations + l) * n_entities
        stride = n_relations * n_entities if side == 0 else 1
        for j in range(candidates.shape[0]):
            x = candidates[j]
            if x == own or (filtered and _is_known(keys, bits, base + stride * x)):
                energies[i, j] = np.inf


def _pools(groups: IntArray, values: IntArray, n_groups: int, n_values: int) -> tuple[IntArray, IntArray]:
    pairs = np.unique(groups * n_values + values)
    starts = np.searchsorted(pairs, np.arange(n_groups + 1) * n_values)
    return starts.astype(np.int64), pairs % n_values


def _head_share(
    heads: IntArray, relations: IntArray, tails: IntArray, n_relations: int, sides: str
) -> FloatArray:
    if sides != "bernoulli":
        return np.full(n_relations, {"both": -1.0, "uniform": 0.5, "tail": 0.0}[sides])
    n = max(int(heads.max(initial=0)), int(tails.max(initial=0))) + 1
    n_heads = np.bincount(np.unique(relations * n + heads) // n, minlength=n_relations)
    n_tails = np.bincount(np.unique(relations * n + tails) // n, minlength=n_relations)
    # tph / (tph + hpt) with tph = triples / heads and hpt = triples / tails
    both = np.maximum(n_heads + n_tails, 1)
    return np.asarray(np.where(n_heads + n_tails > 0, n_tails / both, 0.5))
