"""Links between documents, given in any form, as pairs of positions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, issparse

from relscape.data.dataset import RelationalData
from relscape.data.entities import EntitySet
from relscape.data.frames import arrow_table
from relscape.data.labels import as_text, match, number, number_together
from relscape.data.relation import Relation
from relscape.errors import DataError, RelscapeWarning, listing
from relscape.protocols import IntArray, TextArray

__all__ = ["FEWEST_DOCUMENTS", "link_relation", "linked_documents", "read_links"]

FEWEST_DOCUMENTS = 3  # of a network: of two, the one can only link to the other
DOCUMENT = "document"


class _Ends(NamedTuple):
    """Both ends of every link, as they were given: positions, or names."""

    sources: Any
    targets: Any
    named: bool


def read_links(links: Any, ids: TextArray | Sequence[str], undirected: bool = False) -> IntArray:
    """Read the links between documents.

    Links from a document to itself, repeated ones and those with a document that is not there are left out,
    with one warning.

    Parameters
    ----------
    links : sparse or square array, pairs, data frame, RelationalData or networkx graph
        An n × n array links a row's document to a column's wherever it is not 0. Pairs are (from, to): whole
        numbers are positions, texts are ids. A data frame has two columns, from and to, that hold ids. Of
        RelationalData the one relation within a kind is taken, from rows to columns.
    ids : array or list of str
        The documents, in order.
    undirected : bool
        Whether every link goes both ways.

    Returns
    -------
    array of shape (L, 2)
        Positions, from and to: unique and sorted.

    Examples
    --------
    >>> read_links([("b", "a"), ("a", "c")], ["a", "b", "c"]).tolist()
    [[0, 2], [1, 0]]
    """
    known = as_text(ids)
    ends = _ends(links, len(known))
    sides = [_positions(side, known, ends.named) for side in ends[:2]]
    pairs = np.stack(sides, axis=1)
    unknown, own = (pairs < 0).any(axis=1), pairs[:, 0] == pairs[:, 1]
    own &= ~unknown
    kept = np.unique(pairs[~(unknown | own)], axis=0)
    repeated = len(pairs) - unknown.sum() - own.sum() - len(kept)
    _warn_of_lost(ends, len(pairs), unknown, sides, known[pairs[own, 0]], int(repeated))
    return np.unique(np.vstack([kept, kept[:, ::-1]]), axis=0) if undirected else kept


def linked_documents(links: Any) -> EntitySet:
    """Name the documents that links are between, where nothing else says which there are.

    Those of an n × n array are numbered, those of pairs by position up to the largest; names are sorted. A
    graph may have documents without links.
    """
    if isinstance(links, RelationalData):
        documents = links.entities[link_relation(links).rows]
        return EntitySet(documents.kind, documents.ids, documents.labels, documents.fields)
    if _is_array(links) and _is_table(links):
        return EntitySet(DOCUMENT, as_text(range(links.shape[0])))
    if _is_graph(links):
        return EntitySet(DOCUMENT, number(list(links.nodes()), "links")[0])
    ends = _ends(links, None)
    if ends.named:
        return EntitySet(DOCUMENT, number_together(ends.sources, ends.targets, "links")[0])
    largest = max((int(side.max()) for side in ends[:2] if side.size), default=-1)
    return EntitySet(DOCUMENT, as_text(range(largest + 1)))


def link_relation(data: RelationalData) -> Relation:
    """Find the one relation within a kind."""
    within = [relation for relation in data.relations.values() if relation.rows == relation.columns]
    if len(within) != 1:
        names = f" ({listing(relation.name for relation in within)})" if within else ""
        raise DataError(
            f"the data has {len(within)} relations within one kind{names}; expected one that says which "
            "documents are linked. Choose it with data.only(name)."
        )
    return within[0]


def _ends(links: Any, n: int | None) -> _Ends:
    """Take links of any form apart into their two sides."""
    if isinstance(links, RelationalData):
        relation = link_relation(links)
        ids = links.entities[relation.rows].ids
        rows, columns = _nonzero(relation.matrix)
        return _Ends(ids[rows], ids[columns], named=True)
    if _is_graph(links):
        return _ends_of_graph(links)
    if hasattr(links, "__arrow_c_stream__"):
        return _ends_of_frame(links)
    if _is_array(links):
        return _ends_of_array(links, n)
    if isinstance(links, str | Mapping) or not isinstance(links, Iterable):
        raise DataError(
            f"links are {type(links).__name__}; expected an n × n array, pairs (from, to), a data frame of "
            "two columns, RelationalData or a networkx graph."
        )
    return _ends_of_pairs(links)


def _ends_of_graph(graph: Any) -> _Ends:
    edges = [(edge[0], edge[1]) for edge in graph.edges()]
    if not graph.is_directed():
        edges += [(target, source) for source, target in edges if source != target]
    return _Ends([source for source, _ in edges], [target for _, target in edges], named=True)


def _ends_of_frame(frame: Any) -> _Ends:
    table = arrow_table(frame.reset_index(drop=True) if hasattr(frame, "iloc") else frame)
    if table.num_columns != 2:
        raise DataError(
            f"the frame of links has {table.num_columns} columns ({listing(table.column_names)}); expected "
            "two, from and to: choose them first."
        )
    sources, targets = (column.to_pylist() for column in table.columns)
    return _Ends(sources, targets, named=True)


def _ends_of_array(links: Any, n: int | None) -> _Ends:
    if _is_table(links) and n in (None, links.shape[0]):
        return _Ends(*_nonzero(links), named=False)
    if issparse(links) or links.ndim != 2 or links.shape[1] != 2:
        expected = "n × n" if n is None else f"{n} × {n}"
        raise DataError(
            f"links have shape {tuple(links.shape)}; expected {expected}, one row and one column a document, "
            "or pairs (from, to)."
        )
    if links.dtype.kind in "iu":
        return _Ends(links[:, 0].astype(np.int64), links[:, 1].astype(np.int64), named=False)
    return _ends_of_pairs(links.tolist())


def _ends_of_pairs(pairs: Iterable[Any]) -> _Ends:
    """Take a list of pairs apart; the names in it are either all positions or all ids."""
    listed = [tuple(pair) if not isinstance(pair, str) else (pair,) for pair in pairs]
    for place, pair in enumerate(listed):
        if len(pair) != 2:
            raise DataError(f"link {place} is {pair!r}; expected (from, to).")
    sources, targets = [pair[0] for pair in listed], [pair[1] for pair in listed]
    whole = [_is_position(name) for name in (*sources, *targets)]
    if all(whole):
        return _Ends(np.array(sources, dtype=np.int64), np.array(targets, dtype=np.int64), named=False)
    if any(whole):
        raise DataError("some links name documents by position and some by id; expected one or the other.")
    return _Ends(sources, targets, named=True)


def _is_position(name: Any) -> bool:
    return isinstance(name, int | np.integer) and not isinstance(name, bool)


def _is_graph(links: Any) -> bool:
    return hasattr(links, "edges") and hasattr(links, "is_directed")


def _is_array(links: Any) -> bool:
    return issparse(links) or isinstance(links, np.ndarray)


def _is_table(links: Any) -> bool:
    """Tell a square array from pairs, which are what a dense one of two columns holds."""
    square = links.ndim == 2 and links.shape[0] == links.shape[1]
    return bool(square and (issparse(links) or links.shape[1] != 2))


def _nonzero(matrix: Any) -> tuple[IntArray, IntArray]:
    entries = coo_array(matrix)
    broken = np.flatnonzero(~np.isfinite(entries.data))
    if broken.size:
        row, column = (int(side[broken[0]]) for side in entries.coords)
        raise DataError(
            f"links: row {row}, column {column} is {entries.data[broken[0]]}; expected a finite number, "
            "0 where there is no link."
        )
    there = entries.data != 0
    rows, columns = (side[there].astype(np.int64) for side in entries.coords)
    return rows, columns


def _positions(side: Any, ids: TextArray, named: bool) -> IntArray:
    """Find documents by position or id; -1 for one that is not there."""
    if named:
        return match(as_text(side, "links"), ids)
    return np.where((side >= 0) & (side < len(ids)), side, -1)


def _warn_of_lost(
    ends: _Ends, count: int, unknown: Any, sides: list[IntArray], own: TextArray, repeated: int
) -> None:
    """Say once which links were left out."""
    parts = []
    if unknown.any():
        given = [np.asarray(side, dtype=object)[at < 0] for side, at in zip(ends[:2], sides, strict=True)]
        names = dict.fromkeys(map(str, np.concatenate(given)))
        parts.append(f"{unknown.sum():,} with a document that is not there ({listing(names, 3)})")
    if own.size:
        parts.append(f"{own.size:,} from a document to itself ({listing(own, 3)})")
    if repeated:
        parts.append(f"{repeated:,} given before")
    if parts:
        lost = int(unknown.sum()) + own.size + repeated
        told = "" if ends.named or not unknown.any() else " Whole numbers are positions; write ids as text."
        warnings.warn(
            f"{lost:,} of {count:,} links are left out: {', '.join(parts)}.{told}",
            RelscapeWarning,
            stacklevel=3,
        )
