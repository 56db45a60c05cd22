"""Files of facts into a knowledge graph: workers read them and turn names into numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from relscape.data.labels import as_text
from relscape.data.triples import SPLITS, KnowledgeGraph
from relscape.distributed.reading import files_of, numbered_as_text
from relscape.distributed.rounds import Rounds
from relscape.errors import DataError, InputError
from relscape.protocols import FloatArray, IntArray, TextArray

__all__ = ["graph_of_files"]


class Coded(NamedTuple):
    """One file of facts: the names of its entities and relations, its triples by their places among these."""

    entities: Any
    relations: Any
    triples: IntArray
    weights: FloatArray | None


def graph_of_files(splits: Mapping[str, Any], client: Any) -> KnowledgeGraph:
    """Read the files of the splits, one a task; names come here once a file, and facts as numbers."""
    rounds = Rounds(client)
    files = {split: files_of(splits[split]) if splits.get(split) is not None else [] for split in SPLITS}
    paths = [str(path.resolve()) for split in SPLITS for path in files[split]]
    coded = client.map(_read, paths, pure=False)
    named = rounds.collect(_names, [coded], ())
    entities, entity_codes = numbered_as_text([names[0] for names in named])
    relations, relation_codes = numbered_as_text([names[1] for names in named])
    found = rounds.collect(_numbers, [coded, entity_codes, relation_codes], ())
    parts, start = {}, 0
    for split in SPLITS:
        stop = start + len(files[split])
        empty = np.empty((0, 3), dtype=np.int32)
        parts[split] = np.concatenate([empty, *(triples for triples, _ in found[start:stop])])
        start = stop
    weights = _weights([weights for _, weights in found[: len(files["train"])]], paths)
    return KnowledgeGraph(
        parts["train"], parts["valid"], parts["test"], _texts(entities), _texts(relations), weights=weights
    )


def _weights(found: list[FloatArray | None], paths: list[str]) -> FloatArray | None:
    given = [weights for weights in found if weights is not None]
    if given and len(given) < len(found):
        odd = next(path for path, weights in zip(paths, found, strict=False) if weights is None)
        raise DataError(f"{odd} has no column weight, but other files of the training triples have one.")
    return np.concatenate(given) if given else None


def _texts(names: Any) -> TextArray:
    return np.asarray(names.to_numpy(zero_copy_only=False), dtype=object)


# ---------------------------------------------------------------------- on the workers


def _read(path: str) -> Coded:
    from relscape.sources.triples import read_facts

    try:
        facts = read_facts(path)
    except InputError as error:  # some of ours cannot travel between processes as they are
        raise DataError(str(error)) from None
    heads, relations, tails = (pa.array(as_text(column), pa.string()) for column in facts.columns)
    ends = pa.concat_arrays([heads, tails]).dictionary_encode()
    links = relations.dictionary_encode()
    codes = np.asarray(ends.indices).reshape(2, -1)
    triples = np.column_stack([codes[0], np.asarray(links.indices), codes[1]])
    return Coded(ends.dictionary, links.dictionary, triples, facts.weights)


def _names(coded: Coded) -> tuple[Any, Any]:
    return coded.entities, coded.relations


def _numbers(coded: Coded, entities: IntArray, relations: IntArray) -> tuple[IntArray, FloatArray | None]:
    """Give a file's triples in the common numbers, of 32 bits."""
    heads, links, tails = coded.triples.T
    return np.column_stack([entities[heads], relations[links], entities[tails]]).astype(
        np.int32
    ), coded.weights
